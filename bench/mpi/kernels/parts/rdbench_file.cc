#include "parts/rdbench_file.h"

#include <algorithm>

#include "common/job.h"
#include "files/mpi_hints.h"

namespace kernels {
namespace {

constexpr int64_t point_bytes = sizeof(double);

// The block of a rank as a part of a larger array of doubles.
MPI_Datatype subarray(int64_t full_y, int64_t full_x, int64_t y, int64_t x, int64_t height,
                      int64_t width) {
  const int full[] = {static_cast<int>(full_y), static_cast<int>(full_x)};
  const int part[] = {static_cast<int>(height), static_cast<int>(width)};
  const int start[] = {static_cast<int>(y), static_cast<int>(x)};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, full, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

int64_t block_offset(const Split& split, int rank) {
  return rank * split.width() * split.height() * point_bytes;
}

int64_t canonical_offset(const Split& split, int64_t x, int64_t y) {
  return (y * split.length + x) * point_bytes;
}

}  // namespace

void RdbenchFile::open(const std::string& path, bool writing) {
  path_ = path;
  MPI_Info info = make_info(access_.hints);
  const int mode = writing ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY;
  must(MPI_File_open(MPI_COMM_WORLD, path.c_str(), mode | MPI_MODE_UNIQUE_OPEN, info, &file_), path,
       "open");
  must(MPI_File_set_atomicity(file_, 0), path, "set_atomicity");
  free_info(&info);
}

void RdbenchFile::set_view(const Split& split, int owner) {
  MPI_Datatype part = subarray(split.length, split.length, split.first_y(owner),
                               split.first_x(owner), split.height(), split.width());
  must(MPI_File_set_view(file_, 0, MPI_DOUBLE, part, "native", MPI_INFO_NULL), path_, "set_view");
  MPI_Type_free(&part);
}

void RdbenchFile::write(const GrayScott& state) {
  const Split& split = state.split();
  if (access_.type == IoType::manual) {
    for (int64_t y = 0; y < split.height(); ++y)
      write_at(canonical_offset(split, split.first_x(job().rank), split.first_y(job().rank) + y),
               state.row(y), static_cast<int>(split.width()), MPI_DOUBLE);
    return;
  }
  // The halo is left out by the type in memory.
  MPI_Datatype inner =
      subarray(split.height() + 2, state.row_points(), 1, 1, split.height(), split.width());
  if (access_.type == IoType::view) {
    set_view(split, job().rank);
    write_at(0, state.points(), 1, inner);
  } else {
    write_at(block_offset(split, job().rank), state.points(), 1, inner);
  }
  MPI_Type_free(&inner);
}

void RdbenchFile::read(const Split& writers, int owner, std::vector<double>* block) {
  const auto count = static_cast<int>(writers.width() * writers.height());
  block->resize(static_cast<size_t>(count));
  if (access_.type == IoType::view) {
    set_view(writers, owner);
    read_at(0, block->data(), count, MPI_DOUBLE);
  } else if (access_.type == IoType::chunk) {
    read_at(block_offset(writers, owner), block->data(), count, MPI_DOUBLE);
  } else {
    for (int64_t y = 0; y < writers.height(); ++y)
      read_at(canonical_offset(writers, writers.first_x(owner), writers.first_y(owner) + y),
              block->data() + y * writers.width(), static_cast<int>(writers.width()), MPI_DOUBLE);
  }
}

void RdbenchFile::read_other(const Split& writers, const Split& readers,
                             std::vector<double>* block) {
  if (access_.type != IoType::chunk) {  // the canonical order does not depend on the writers
    read(readers, job().rank, block);
    return;
  }
  block->resize(static_cast<size_t>(readers.width() * readers.height()));
  double* to = block->data();
  for (int64_t row = 0; row < readers.height(); ++row) {
    const int64_t y = readers.first_y(job().rank) + row;
    const int64_t end = readers.first_x(job().rank) + readers.width();
    for (int64_t x = readers.first_x(job().rank); x < end;) {
      const int64_t in_x = x % writers.width(), in_y = y % writers.height();
      const int64_t run = std::min(end - x, writers.width() - in_x);
      const auto owner =
          static_cast<int>(y / writers.height() * writers.columns + x / writers.width());
      const int64_t offset =
          block_offset(writers, owner) + (in_y * writers.width() + in_x) * point_bytes;
      must(
          MPI_File_read_at(file_, offset, to, static_cast<int>(run), MPI_DOUBLE, MPI_STATUS_IGNORE),
          path_, "read at " + std::to_string(offset));
      to += run;
      x += run;
    }
  }
}

void RdbenchFile::write_at(MPI_Offset offset, const void* from, int count, MPI_Datatype type) {
  must(access_.collective
           ? MPI_File_write_at_all(file_, offset, from, count, type, MPI_STATUS_IGNORE)
           : MPI_File_write_at(file_, offset, from, count, type, MPI_STATUS_IGNORE),
       path_, "write at " + std::to_string(offset));
}

void RdbenchFile::read_at(MPI_Offset offset, void* to, int count, MPI_Datatype type) {
  must(access_.collective ? MPI_File_read_at_all(file_, offset, to, count, type, MPI_STATUS_IGNORE)
                          : MPI_File_read_at(file_, offset, to, count, type, MPI_STATUS_IGNORE),
       path_, "read at " + std::to_string(offset));
}

void RdbenchFile::sync() {
  if (access_.sync) must(MPI_File_sync(file_), path_, "sync");
}

void RdbenchFile::close() { must(MPI_File_close(&file_), path_, "close"); }

Hints RdbenchFile::hints() const { return hints_of(file_); }

}  // namespace kernels
