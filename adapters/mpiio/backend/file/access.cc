#include "mpiio/backend/file/access.h"

#include <algorithm>
#include <string>
#include <vector>

#include "mpiio/backend/base/real.h"
#include "mpiio/backend/datatype/contents.h"
#include "mpiio/backend/datatype/layout_of.h"
#include "mpiio/backend/datatype/walk.h"
#include "mpiio/backend/file/pieces.h"
#include "mpiio/backend/file/shared_file.h"
#include "mpiio/backend/job/errors.h"

namespace mpiio {

constinit thread_local NamedType last_named = {};

namespace {

// Holds the turn of atomic mode: one access at a time, on this node.
class AtomicTurn {
 public:
  explicit AtomicTurn(const File& file) : turn_(file.atomic ? turn_of(file) : nullptr) {
    if (turn_ != nullptr) error_ = turn_->take();
  }
  ~AtomicTurn() {
    if (turn_ != nullptr && error_ == 0) turn_->give_up();
  }
  AtomicTurn(const AtomicTurn&) = delete;
  AtomicTurn& operator=(const AtomicTurn&) = delete;
  // Returns an errno value.
  [[nodiscard]] int error() const { return error_; }

 private:
  static Turn* turn_of(const File& file) {
    return file.shared == nullptr ? nullptr : &file.shared->atomic_turn;
  }
  Turn* turn_;
  int error_ = 0;
};

// Moves one piece. Returns the bytes moved, or a negative errno.
ssize_t move(const File& file, Direction direction, char* bytes, int64_t size, int64_t offset) {
  const auto length = static_cast<size_t>(size);
  const auto at = static_cast<uint64_t>(offset);
  return direction == Direction::read ? host->engine->pread(file.file, bytes, length, at)
                                      : host->engine->pwrite(file.file, bytes, length, at);
}

int failed(const File& file, Direction direction, ssize_t result, int64_t offset) {
  return system_error(static_cast<int>(result),
                      std::string(direction == Direction::read ? "read" : "write") + " at offset " +
                          std::to_string(offset),
                      file.path);
}

int move_dense(const File& file, Direction direction, char* bytes, int64_t size, int64_t offset,
               int64_t* moved) {
  while (*moved < size) {
    const ssize_t n = move(file, direction, bytes + *moved, size - *moved, offset + *moved);
    if (n < 0) return failed(file, direction, n, offset + *moved);
    if (n == 0) break;
    *moved += n;
  }
  return MPI_SUCCESS;
}

// Moves bytes without gaps in memory, from byte `stream` of the view on.
int move_stream(const File& file, Direction direction, char* bytes, int64_t size, int64_t stream,
                int64_t* moved) {
  const View& view = file.view;
  if (file.shared_file == nullptr && view.dense)
    return move_dense(file, direction, bytes, size, view.displacement + stream, moved);
  const Run line = {0, size};
  return move_pieces(file, direction, bytes, Walk(line, 0), size, stream, moved);
}

// Returns the error of the program's conversion function. Its code may be of any class, and its
// text is the MPI's.
int not_converted(const File& file, Direction direction, int code, int64_t stream) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  real::Error_string[kPmpi](code, text, &length);
  return error(MPI_ERR_CONVERSION,
               file.path + ": " + (direction == Direction::read ? "read" : "write") +
                   " at offset " + std::to_string(file.view.place_of(stream)) +
                   ": the conversion function of data representation \"" +
                   file.view.representation_name + "\" returned " + std::to_string(code) +
                   (length > 0 ? std::string(" (") + text + ")" : ""));
}

// Moves bytes through the view's data representation, some items at a time.
int move_converted(const File& file, Direction direction, char* buffer, int64_t count,
                   MPI_Datatype datatype, int64_t stream, int64_t* moved) {
  const Representation& representation = *file.view.representation;
  const int64_t item =
      layout_in_file(datatype, [&](MPI_Datatype type) { return representation.size(type); }).size;
  const int64_t item_in_memory = layout_of(datatype)->size;
  if (item == 0 || count == 0) return MPI_SUCCESS;
  const int64_t at_once = std::clamp<int64_t>((int64_t{1} << 20) / item, 1, count);
  std::vector<char> bytes(static_cast<size_t>(at_once * item));
  for (int64_t done = 0; done < count; done += at_once) {
    const int64_t items = std::min(at_once, count - done);
    const int64_t at = stream + done * item;
    int64_t n = 0;
    if (direction == Direction::write) {
      int code = representation.write(buffer, datatype, done, items, bytes.data(), items * item);
      code = code != MPI_SUCCESS ? not_converted(file, direction, code, at)
                                 : move_stream(file, direction, bytes.data(), items * item, at, &n);
      *moved += n / item * item_in_memory;
      if (code != MPI_SUCCESS) return code;
      continue;
    }
    int code = move_stream(file, direction, bytes.data(), items * item, at, &n);
    int64_t got = 0;
    if (code == MPI_SUCCESS) {
      code = representation.read(buffer, datatype, done, items, bytes.data(), n, &got);
      if (code != MPI_SUCCESS) {
        got = 0;
        code = not_converted(file, direction, code, at);
      }
    }
    *moved += got;
    if (code != MPI_SUCCESS || n < items * item) return code;
  }
  return MPI_SUCCESS;
}

bool is_named(MPI_Datatype datatype, int64_t* size) {
  if (last_named.datatype != datatype || last_named.size == 0) {
    if (!is_predefined(datatype)) return false;
    const auto layout = layout_of(datatype);
    if (!layout->is_dense()) return false;
    last_named = {datatype, layout->size};
  }
  *size = last_named.size;
  return true;
}

// Moves the bytes by whatever way they need.
int move_all(const File& file, Direction direction, int64_t stream, char* bytes, int64_t count,
             MPI_Datatype datatype, int64_t* moved) {
  if (file.view.representation != nullptr)
    return move_converted(file, direction, bytes, count, datatype, stream, moved);
  const auto memory = layout_of(datatype);
  if (!memory->known)
    return error(MPI_ERR_TYPE, file.path + ": unknown constructor in the datatype");
  const int64_t total = memory->size * count;
  if (total == 0) return MPI_SUCCESS;
  if (memory->is_dense())
    return move_stream(file, direction, bytes + memory->runs[0].offset, total, stream, moved);
  return move_pieces(file, direction, bytes, Walk(*memory, 0, 0), total, stream, moved);
}

}  // namespace

int transfer(File& file, Direction direction, int64_t stream, void* buffer, int64_t count,
             MPI_Datatype datatype, int64_t* moved) {
  *moved = 0;
  auto* bytes = static_cast<char*>(buffer);
  const View& view = file.view;
  int64_t size = 0;
  const bool simple = is_named(datatype, &size);
  if (simple && view.dense && file.is_direct() && view.representation == nullptr) [[likely]]
    return move_dense(file, direction, bytes, count * size, view.displacement + stream, moved);
  const auto access = [&] {
    return move_all(file, direction, stream, bytes, count, datatype, moved);
  };
  if (file.shared_file != nullptr)
    return file.atomic ? shared_file::in_turn(file, access) : access();
  const AtomicTurn turn(file);
  if (turn.error() != 0) return system_error(turn.error(), "atomic access", file.path);
  return access();
}

int64_t size_of(MPI_Datatype datatype) {
  if (last_named.datatype == datatype && last_named.size != 0) [[likely]]
    return last_named.size;
  MPI_Count size = 0;
  PMPI_Type_size_x(datatype, &size);
  return size;
}

void set_status(MPI_Status* status, int64_t bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  // The MPI's encoding of a number is cached: most calls move as much as the one before.
  thread_local struct {
    int64_t bytes = -1;
    MPI_Status status;
  } last;
  if (last.bytes != bytes) [[unlikely]] {
    PMPI_Status_set_elements_x(&last.status, MPI_BYTE, bytes);
    PMPI_Status_set_cancelled(&last.status, 0);
    last.bytes = bytes;
  }
  // The caller owns these fields.
  last.status.MPI_SOURCE = status->MPI_SOURCE;
  last.status.MPI_TAG = status->MPI_TAG;
  last.status.MPI_ERROR = status->MPI_ERROR;
  *status = last.status;
}

}  // namespace mpiio
