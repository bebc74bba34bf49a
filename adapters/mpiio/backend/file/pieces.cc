#include "mpiio/backend/file/pieces.h"

#include <algorithm>
#include <string>
#include <vector>

#include "cluster/mpi/messages/waiting.h"
#include "mpiio/backend/base/texts.h"
#include "mpiio/backend/job/errors.h"

namespace mpiio {
namespace {

using Pieces = std::vector<cairn_piece>;

// One request to other nodes covers so many pieces; on this node they should stay in the
// processor's nearest cache.
constexpr size_t most_pieces_of_nodes = 65536;
constexpr size_t most_pieces = 256;

int failed(const File& file, Direction direction, int64_t result, uint64_t offset) {
  const char* verb = direction == Direction::read ? "read" : "write";
  return error(class_of(static_cast<int>(result)),
               told_once(file.path, std::string(verb) + " at offset " + std::to_string(offset),
                         host->engine->last_error()));
}

// Reads from other nodes. `*moved` grows by the bytes read; `*end`: the file ended there.
int read_from_nodes(const File& file, const Pieces& pieces, int64_t* moved, bool* end) {
  int64_t wanted = 0;
  for (const cairn_piece& piece : pieces) wanted += static_cast<int64_t>(piece.size);
  const int64_t got = host->engine->shared_read(file.shared_file, pieces.data(), pieces.size());
  if (got < 0) return failed(file, Direction::read, got, pieces[0].offset);
  *moved += got;
  *end = got < wanted;
  return MPI_SUCCESS;
}

int write_for_nodes(const File& file, const Pieces& pieces, int64_t* moved) {
  const int64_t written =
      host->engine->shared_write(file.shared_file, pieces.data(), pieces.size());
  if (written < 0) return failed(file, Direction::write, written, pieces[0].offset);
  *moved += written;
  return MPI_SUCCESS;
}

// Continues after a piece that came short until no byte is moved, or the error is known.
int move_here(const File& file, Direction direction, Pieces& pieces, int64_t* moved, bool* end) {
  const auto call =
      direction == Direction::read ? host->engine->read_pieces : host->engine->write_pieces;
  for (size_t at = 0; at < pieces.size();) {
    int64_t n = call(file.file, &pieces[at], pieces.size() - at);
    if (n < 0) return failed(file, direction, n, pieces[at].offset);
    *moved += n;
    *end = n == 0;
    if (*end) return MPI_SUCCESS;
    for (; n > 0 && static_cast<uint64_t>(n) >= pieces[at].size; ++at)
      n -= static_cast<int64_t>(pieces[at].size);
    if (n == 0) continue;
    pieces[at].buffer = static_cast<char*>(pieces[at].buffer) + n;
    pieces[at].size -= static_cast<size_t>(n);
    pieces[at].offset += static_cast<uint64_t>(n);
  }
  return MPI_SUCCESS;
}

// Adds a piece, or extends the last one if it continues there.
void add(Pieces* pieces, char* buffer, int64_t size, int64_t offset) {
  const cairn_piece piece = {buffer, static_cast<size_t>(size), static_cast<uint64_t>(offset)};
  if (!pieces->empty()) {
    cairn_piece& last = pieces->back();
    if (static_cast<char*>(last.buffer) + last.size == buffer &&
        last.offset + last.size == piece.offset) {
      last.size += piece.size;
      return;
    }
  }
  pieces->push_back(piece);
}

}  // namespace

int move_pieces(const File& file, Direction direction, char* buffer, Walk memory, int64_t size,
                int64_t stream, int64_t* moved) {
  const bool reading = direction == Direction::read;
  const cairn::mpi::Doing doing(reading ? "read" : "write", file.path);
  if (size == 0) return MPI_SUCCESS;
  const View& view = file.view;
  // A filetype may have no data, as an empty share of a distributed array: its file ends before it
  // begins.
  if (!view.dense && view.layout->size == 0)
    return reading
               ? MPI_SUCCESS
               : error(MPI_ERR_IO,
                       file.path + ": write: the view's filetype has no bytes; set another view");
  const Run line = {0, size};
  Walk place = view.dense ? Walk(line, view.displacement + stream)
                          : Walk(*view.layout, view.displacement, stream);
  const size_t most = file.shared_file == nullptr ? most_pieces : most_pieces_of_nodes;
  Pieces pieces;
  pieces.reserve(most_pieces);
  for (int64_t left = size; left > 0;) {
    const int64_t bytes = std::min({memory.length(), place.length(), left});
    add(&pieces, buffer + memory.offset(), bytes, place.offset());
    left -= bytes;
    if (left > 0) {
      memory.advance(bytes);
      place.advance(bytes);
      if (pieces.size() < most) continue;
    }
    bool end = false;
    const int code = file.shared_file == nullptr ? move_here(file, direction, pieces, moved, &end)
                     : reading                   ? read_from_nodes(file, pieces, moved, &end)
                                                 : write_for_nodes(file, pieces, moved);
    if (code != MPI_SUCCESS || end) return code;
    pieces.clear();
  }
  return MPI_SUCCESS;
}

}  // namespace mpiio
