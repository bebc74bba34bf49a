// BackEnd writes and reads the model's variables for one way of storing them. All ranks call.
#pragma once

#include <cairn/cairn.h>

#include <memory>
#include <string>

#include "../stop.h"
#include "model.h"

namespace palm {

using bench::must;
using bench::must_posix;
using bench::stop;

class BackEnd {
 public:
  virtual ~BackEnd() = default;
  // Stores all variables as they are now; the same names again in each version.
  virtual void create(Model& model, int64_t version) = 0;
  // Reads what create() has stored last.
  virtual void restore(Model& model) = 0;
  // The file that `rank` has made; "": none.
  [[nodiscard]] virtual std::string file(int rank) const = 0;
};

// Each makes files of its own in `directory`.
// pool: null: the configured one. is_fresh: without what an earlier job has left.
std::unique_ptr<BackEnd> versions(Model& model, cairn_pool* pool, bool is_fresh);
// Drops what versions() has left in the configured pool. One process of the node.
void drop_versions();
std::unique_ptr<BackEnd> stream_files(const std::string& directory, bool has_crc);
std::unique_ptr<BackEnd> mpi_io(const std::string& directory);
std::unique_ptr<BackEnd> parallel_hdf5(const std::string& directory);  // null: built without it
std::unique_ptr<BackEnd> adios2(const std::string& directory);         // null: not to be had
// Shows what memory can do: all ranks copy their bytes into a warm mapping and back. `piece`: the
// bytes of each CRC between the copies; 0: no CRC.
std::unique_ptr<BackEnd> copying(const std::string& directory, int64_t piece);

uint32_t crc(uint32_t before, const char* data, int64_t bytes);

}  // namespace palm
