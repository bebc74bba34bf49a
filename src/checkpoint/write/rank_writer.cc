#include "checkpoint/write/rank_writer.h"

#include <vector>

#include "checkpoint/write/count_totals.h"
#include "checkpoint/write/extent_writer.h"
#include "checkpoint/write/region_writer.h"
#include "file/data/bulk_write.h"
#include "file/data/io.h"

namespace cairn::checkpoint {
namespace {

using Variables = std::vector<const Definition*>;

class RankWriter {
 public:
  RankWriter(const Run& run, const VersionWords& words, uint64_t sequence, const Agreed& agreed,
             Slot* slot)
      : run_(run),
        words_(words),
        sequence_(sequence),
        agreed_(agreed),
        slot_(*slot),
        totals_(agreed.contents) {}

  Status write(const Variables& variables) {
    const uint32_t rank = run_.rank();  // on this node
    CAIRN_TRY_ASSIGN(root, write_region(slot_.data_file(), agreed_.regions.offset[rank],
                                        agreed_.contents, agreed_.packed, variables,
                                        [&](uint32_t variable, const ArrayPlace& array) {
                                          totals_.note(variable, array);
                                        }));
    if (agreed_.contents.has_counted()) CAIRN_TRY(write_counted(variables, &root));
    root.rank = run_.number();
    root.sequence = sequence_;
    seal_root(&root);
    CAIRN_TRY(file::write_bulk(slot_.manifest_file(), &root, sizeof root,
                               roots_offset + sizeof root * uint64_t{rank}));
    // The fence covers everything that this rank has written for the version, to both files.
    return run_.set().fs().pool.fence_bytes();
  }

 private:
  Status write_counted(const Variables& variables, RootRecord* root) {
    CAIRN_TRY_ASSIGN(extent, find_extent(agreed_.contents, variables));
    CAIRN_TRY(totals_.check(extent, run_.number()));
    const uint64_t bytes =
        bytes_with_list(extent.packed.bytes, agreed_.contents.layout().block_bytes());
    const uint64_t offset = words_.take_extent(bytes);
    if (offset + bytes > max_data_file)
      return fail(EOVERFLOW, "data of a node: more than 2^48 bytes");
    CAIRN_TRY(file::grow_size(slot_.data_file(), offset + bytes));
    CAIRN_TRY_ASSIGN(crc, write_extent(slot_.data_file(), offset, agreed_.contents, extent));
    root->extent_offset = offset;
    root->extent_bytes = extent.packed.bytes;
    root->extent_list_crc = crc;
    root->directory = static_cast<uint32_t>(extent.directory.size());
    words_.add_bytes(sequence_, extent.packed.bytes);
    return Status();
  }

  const Run& run_;
  const VersionWords& words_;
  uint64_t sequence_;
  const Agreed& agreed_;
  Slot& slot_;
  CountTotals totals_;
};

}  // namespace

Status write_rank(const Run& run, const VersionWords& words, uint64_t sequence,
                  const Agreed& agreed, const Definitions& definitions, Slot* slot) {
  Variables variables;
  for (const auto& [name, definition] : definitions.all()) variables.push_back(&definition);
  if (variables.size() != agreed.contents.layout().variables())
    return fail(EINVAL, "definitions were not agreed on");
  return RankWriter(run, words, sequence, agreed, slot).write(variables);
}

}  // namespace cairn::checkpoint
