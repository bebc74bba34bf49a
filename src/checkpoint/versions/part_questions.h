// PartQuestions: the questions of a rank to another node about its part of a version, and the
// answers of that node's leader. A restart on other ranks or nodes reads through them.
#pragma once

#include <vector>

#include "checkpoint/run/exchange.h"
#include "checkpoint/store/block_check.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/catalogue.h"

namespace cairn::checkpoint {

// DueVote for this node, on its leader. The objects that it refers to stay where they are.
class PartServer {
 public:
  PartServer(const SetFile* set, SlotCache* slot_cache, const Catalogue* catalogue)
      : set_(*set), slot_cache_(*slot_cache), catalogue_(*catalogue) {}
  // DueVote one question; see Exchange::Serve.
  size_t serve(const void* question, size_t size, void* answer);

 private:
  Result<size_t> answer_bytes(const void* question, size_t size, uint8_t* bytes,
                              uint64_t* data_bytes);
  Result<Slot*> slot_of(uint64_t sequence, uint32_t part);
  Status check(const uint8_t* question, size_t size, uint64_t sequence);

  const SetFile& set_;
  SlotCache& slot_cache_;
  const Catalogue& catalogue_;
};

// Asks one node about a part that it has, or about its copy. Errors are those of the node, with its
// name in the text.
class PartClient {
 public:
  PartClient(Exchange* exchange, uint32_t node, uint32_t part)
      : exchange_(*exchange), node_(node), part_(part) {}

  // Read bytes of the manifest, or of the data, of this part of a committed version. EUCLEAN: the
  // file is shorter.
  Status read_manifest(uint64_t sequence, uint64_t offset, void* bytes, uint64_t size);
  Status read_data(uint64_t sequence, uint64_t offset, void* bytes, uint64_t size);
  // Do the same with a `size` that is not trusted: memory is allocated for the bytes that have
  // arrived, and for one answer more.
  Result<std::vector<uint8_t>> fetch_manifest(uint64_t sequence, uint64_t size);
  Result<std::vector<uint8_t>> fetch_data(uint64_t sequence, uint64_t offset, uint64_t size);
  // Returns the size of the part's data file, as the node found it when it last answered.
  [[nodiscard]] uint64_t data_bytes() const { return data_bytes_; }
  // Reads the record of a layout or a decomposition. `copy`: 0 the first, 1 the second.
  Result<std::vector<uint8_t>> read_record(const RecordFile& file);
  // Makes the node compare blocks with their checksums. `list_crc`: of the checksums themselves.
  struct Region {
    uint32_t rank = 0;
    uint32_t list_crc = 0;
    uint64_t offset = 0;
    uint64_t bytes = 0;
    uint64_t block_bytes = 0;
  };
  Status check_blocks(uint64_t sequence, const Region& region, const std::vector<Blocks>& blocks);
  [[nodiscard]] std::string name() const { return exchange_.name_of(node_); }

 private:
  Result<size_t> ask(const void* question, size_t size, void* bytes, size_t capacity);
  Status read(uint32_t what, uint64_t sequence, uint64_t offset, void* bytes, uint64_t size);
  Result<std::vector<uint8_t>> fetch(uint32_t what, uint64_t sequence, uint64_t offset,
                                     uint64_t size);

  Exchange& exchange_;
  uint32_t node_;
  uint32_t part_;
  uint64_t data_bytes_ = 0;
};

}  // namespace cairn::checkpoint
