// Moving bytes between a buffer and a file that several nodes write: all pieces of a read are looked for at once.
#include <algorithm>
#include <vector>

#include "mpiio/backend/errors.h"
#include "mpiio/backend/nodes.h"
#include "mpiio/backend/waiting.h"
#include "mpiio/backend/walk.h"

namespace mpiio::nodes {
namespace {

constexpr size_t most_pieces = 65536;

int failed(const File& file, const char* what, int64_t result, uint64_t offset) {
  return error(class_of(static_cast<int>(result)), file.path + ": " + what + " at offset " +
                                                       std::to_string(offset) + ": " +
                                                       host->engine->last_error());
}

// `*moved` grows by what was read; `*end`: the file ended there.
int read_pieces(const File& file, const std::vector<cairn_piece>& pieces, int64_t* moved,
                bool* end) {
  int64_t wanted = 0;
  for (const cairn_piece& piece : pieces) wanted += static_cast<int64_t>(piece.size);
  const int64_t got = host->engine->shared.read(file.nodes, pieces.data(), pieces.size());
  if (got < 0) return failed(file, "read", got, pieces[0].offset);
  *moved += got;
  *end = got < wanted;
  return MPI_SUCCESS;
}

int write_pieces(const File& file, const std::vector<cairn_piece>& pieces, int64_t* moved) {
  const int64_t written = host->engine->shared.write(file.nodes, pieces.data(), pieces.size());
  if (written < 0) return failed(file, "write", written, pieces[0].offset);
  *moved += written;
  return MPI_SUCCESS;
}

// Adds a piece, to the last one if it goes on there.
void add(std::vector<cairn_piece>* pieces, char* buffer, int64_t size, int64_t offset) {
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

Layout dense(int64_t size) {
  Layout layout;
  layout.runs.push_back({0, size});
  layout.size = layout.extent = size;
  return layout;
}

int move(const File& file, Direction direction, char* buffer, const Layout& memory, int64_t size,
         int64_t stream, int64_t* moved) {
  const bool reading = direction == Direction::read;
  const Doing doing(reading ? "read" : "write", file.path);
  if (size == 0) return MPI_SUCCESS;
  const View& view = file.view;
  const Layout line = dense(view.dense ? size : 0);
  Walk from(memory, 0, 0);
  Walk to = view.dense ? Walk(line, view.displacement + stream, 0)
                       : Walk(*view.layout, view.displacement, stream);
  std::vector<cairn_piece> pieces;
  for (int64_t left = size; left > 0;) {
    const int64_t bytes = std::min({from.length(), to.length(), left});
    add(&pieces, buffer + from.offset(), bytes, to.offset());
    left -= bytes;
    if (left > 0) {
      from.advance(bytes);
      to.advance(bytes);
      if (pieces.size() < most_pieces) continue;
    }
    bool end = false;
    const int code =
        reading ? read_pieces(file, pieces, moved, &end) : write_pieces(file, pieces, moved);
    if (code != MPI_SUCCESS || end) return code;
    pieces.clear();
  }
  return MPI_SUCCESS;
}

}  // namespace mpiio::nodes
