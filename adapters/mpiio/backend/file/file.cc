#include "mpiio/backend/file/file.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cluster/mpi/messages/collectives.h"
#include "mpiio/backend/datatype/walk.h"
#include "mpiio/backend/job/errors.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

std::mutex table_lock;
std::unordered_map<uintptr_t, File*>& table() {
  static auto* all =
      new std::unordered_map<uintptr_t, File*>;  // files may be used until the very end
  return *all;
}

uintptr_t key_of(MPI_File handle) { return reinterpret_cast<uintptr_t>(handle); }

}  // namespace

std::atomic<uint64_t> table_version{1};
constinit thread_local FoundFile last_found = {0, MPI_File(), nullptr};

int check_random(const File& file) {
  return (file.amode & MPI_MODE_SEQUENTIAL) == 0
             ? MPI_SUCCESS
             : error(MPI_ERR_UNSUPPORTED_OPERATION,
                     file.path +
                         ": open with MPI_MODE_SEQUENTIAL, which excludes this call; "
                         "use the shared pointer");
}

int check_same(const File& file, std::initializer_list<int64_t> values, const char* what) {
  std::vector<int64_t> extremes;  // the largest of each value, and of its complement
  for (const int64_t value : values) extremes.insert(extremes.end(), {value, ~value});
  cairn::mpi::maximum(session::ranks(file.comm), extremes.data(), static_cast<int>(extremes.size()),
                      "waiting for all ranks");
  for (size_t i = 0; i < extremes.size(); i += 2)
    if (extremes[i] != ~extremes[i + 1])
      return error(MPI_ERR_NOT_SAME,
                   file.path + ": the ranks give different " + what + "; give the same on all");
  return MPI_SUCCESS;
}

void File::choose_way() {
  const bool plain = is_direct() && view.dense && view.representation == nullptr &&
                     (amode & MPI_MODE_SEQUENTIAL) == 0;
  fast_path = {plain && (amode & MPI_MODE_WRONLY) == 0, plain && (amode & MPI_MODE_RDONLY) == 0};
}

File* look_up_file(MPI_File handle) {
  const std::lock_guard guard(table_lock);
  const auto found = table().find(key_of(handle));
  last_found = {table_version.load(), handle, found == table().end() ? nullptr : found->second};
  return last_found.file;
}

void add_file(File* file) {
  const std::lock_guard guard(table_lock);
  table()[key_of(file->handle)] = file;
  table_version.fetch_add(1);
}

void remove_file(MPI_File handle) {
  const std::lock_guard guard(table_lock);
  table().erase(key_of(handle));
  table_version.fetch_add(1);
}

int64_t View::place_of(int64_t stream) const {
  if (dense) return displacement + stream;
  return Walk(*layout, displacement, stream).offset();
}

int64_t View::stream_below(int64_t end) const {
  if (end <= displacement) return 0;
  if (dense) return end - displacement;
  if (layout->size == 0) return 0;
  // Tiles without extent all lie in the same place.
  if (layout->extent <= 0) return layout->size;
  const int64_t tile = (end - displacement) / layout->extent;
  // The pieces of neighbouring tiles may lie outside their extent.
  int64_t first = tile;
  for (const Run& run : layout->runs) {
    const int64_t last_byte =
        run.offset + (run.count - 1) * std::max<int64_t>(run.stride, 0) + run.length;
    first = std::min(first, (end - displacement - last_byte) / layout->extent - 1);
  }
  first = std::max<int64_t>(first, 0);
  int64_t bytes = first * layout->size;
  for (int64_t t = first; t <= tile + 1; ++t) {
    for (const Run& run : layout->runs) {
      for (int64_t i = 0; i < run.count; ++i) {
        const int64_t at = displacement + t * layout->extent + run.offset + i * run.stride;
        if (at >= end) break;
        bytes += std::min(run.length, end - at);
      }
    }
  }
  return bytes;
}

}  // namespace mpiio
