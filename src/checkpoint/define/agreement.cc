#include "checkpoint/define/agreement.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <utility>

#include "base/saved_failure.h"
#include "checkpoint/store/layout_files.h"
#include "checkpoint/versions/catalogue.h"
#include "file/data/io.h"
#include "tier/record/record.h"
#include "tier/system/pool_file.h"

namespace cairn::checkpoint {
namespace {

// The layout of the file `agree`: the text about the definitions, texts of other failures, then a
// range for each rank.
constexpr uint64_t ranges_begin = agree_ranges_begin;
constexpr uint64_t range_bytes = uint64_t{256} << 20;

Status write_all(file::File& file, const void* bytes, size_t size, uint64_t offset) {
  CAIRN_TRY_ASSIGN(written, file::write_at(file, bytes, size, offset));
  return written == size ? Status() : fail(ENOSPC, "%s: no space left in the pool", agree_name);
}

Status read_all(file::File& file, void* bytes, size_t size, uint64_t offset) {
  CAIRN_TRY_ASSIGN(read, file::read_at(file, bytes, size, offset));
  return read == size ? Status() : fail(EIO, "%s: cut off", agree_name);
}

class Agreement {
 public:
  // The `file` is null if it could not be opened.
  Agreement(Run* run, file::File* file) : run_(*run), words_(run->words()), file_(file) {}

  // Agrees; `status` is this rank's result so far. Its error becomes that of all ranks.
  Result<Contents> agree(Status status, const std::vector<uint8_t>& record, uint64_t arrived) {
    if (status.ok()) status = tell(record);
    if (run_.exchange() == nullptr) {
      CAIRN_TRY_ASSIGN(refused, meet(status, arrived, [&] { return join().code(); }));
      if (refused != 0) return told(refused);
    } else {
      CAIRN_TRY(agree_with_nodes(status, arrived));
    }
    Sha256Hash hash;
    for (unsigned i = 0; i < 4; ++i) {
      const uint64_t word = words_.meetings(RunWords::hash + i).load();
      std::memcpy(hash.data() + size_t{8} * i, &word, sizeof word);
    }
    auto contents = load_contents(run_.set().fs(), run_.set().directory(), hash);
    CAIRN_TRY_ASSIGN(unread, barrier_max(contents.status(), arrived));
    if (unread != 0) return fail(unread, "another rank cannot read the layout");
    return contents;
  }

 private:
  Status tell(const std::vector<uint8_t>& record) {
    if (record.size() > range_bytes)
      return fail(EOVERFLOW, "definitions: more than %llu bytes",
                  static_cast<unsigned long long>(range_bytes));
    CAIRN_TRY(write_all(*file_, record.data(), record.size(), range_of(run_.rank())));
    // This allocates the space for texts early, so that a text can report a full pool.
    constexpr char nothing = 0;
    if (run_.is_leader())
      CAIRN_TRY(write_all(*file_, &nothing, sizeof nothing, ranges_begin - sizeof nothing));
    pool().store(words_.member(run_.rank(), RunWords::length), record.size());
    return Status();
  }

  // Returns the error that all ranks have, or 0. A failure is this rank's own.
  Result<int> meet(const Status& own, uint64_t arrived, const std::function<int()>& evaluate) {
    const SavedFailure saved(own);
    CAIRN_TRY_ASSIGN(error, run_.barrier_reduce(Run::Purpose::agree, own.code(), arrived,
                                                [&]() -> int64_t { return evaluate(); }));
    if (!own.ok()) return saved.restored();
    return static_cast<int>(error);
  }

  // Does what meet() does, for all nodes.
  Result<int> barrier_max(const Status& own, uint64_t arrived) {
    const SavedFailure saved(own);
    CAIRN_TRY_ASSIGN(error, run_.barrier_max(Run::Purpose::agree, own.code(), arrived));
    if (!own.ok()) return saved.restored();
    return static_cast<int>(error);
  }

  // Waits until all ranks have stored their definitions on their nodes; the leaders then join them.
  Status agree_with_nodes(const Status& status, uint64_t arrived) {
    CAIRN_TRY_ASSIGN(untold, barrier_max(status, arrived));
    if (untold != 0) return fail(untold, "another rank could not store its definitions");
    const Status joined = run_.is_leader() ? join() : Status();
    CAIRN_TRY_ASSIGN(refused, barrier_max(joined, arrived));
    return refused == 0 ? Status() : told(refused);
  }

  static uint64_t range_of(uint32_t rank) { return ranges_begin + range_bytes * rank; }

  // Called by the rank that came last, or by leaders.
  Status join() {
    const Status status = join_all();
    char text[detail_capacity] = "";
    // An old text must not stay, because another node may fail by itself.
    if (status.ok() && run_.exchange() != nullptr) return write_all(*file_, text, sizeof text, 0);
    if (status.ok()) return status;
    std::strncpy(text, last_detail(), sizeof text - 1);
    // The other ranks know the error's number in any case.
    if (file_ != nullptr) write_all(*file_, text, sizeof text, 0).ignore();
    return fail(status.code(), "%s", text);
  }

  Result<std::vector<uint8_t>> join_node() {
    std::vector<std::vector<uint8_t>> records;
    for (uint32_t rank = 0; rank < run_.ranks(); ++rank) {
      if (run_.value_of(rank) != 0)
        return fail(static_cast<int>(run_.value_of(rank)),
                    "rank %u: could not store its definitions", run_.number_of(rank));
      const uint64_t length = words_.member(rank, RunWords::length).load();
      records.emplace_back(static_cast<size_t>(std::min(length, range_bytes)));
      CAIRN_TRY(read_all(*file_, records.back().data(), records.back().size(), range_of(rank)));
    }
    return join_ranks(records, run_.numbers());
  }

  // Gathers the message of each node: an error with its text, or its record.
  Result<Blobs> records_of_nodes() {
    auto own = join_node();
    if (run_.exchange() == nullptr) {
      CAIRN_TRY(own.status());
      return Blobs{std::move(*own)};
    }
    const std::string_view text = own.ok() ? std::string_view() : std::string_view(last_detail());
    std::vector<uint8_t> told(1 + (own.ok() ? own->size() : text.size()));
    told.front() = own.ok() ? 0 : static_cast<uint8_t>(own.code());
    if (own.ok())
      std::copy(own->begin(), own->end(), told.begin() + 1);
    else
      std::copy(text.begin(), text.end(), told.begin() + 1);
    CAIRN_TRY_ASSIGN(all, gather_blobs(run_.exchange(), Exchange::Channel::commit, told));
    for (auto& one : all) {
      const int error = one.empty() ? EIO : one.front();
      if (!one.empty()) one.erase(one.begin());
      if (error != 0) return fail(error, "%s", std::string(one.begin(), one.end()).c_str());
    }
    return all;
  }

  Status join_all() {
    CAIRN_TRY_ASSIGN(records, records_of_nodes());
    CAIRN_TRY_ASSIGN(contents, join_nodes(records));
    CAIRN_TRY(store_contents(run_.set().fs(), run_.set().directory(), contents));
    for (unsigned i = 0; i < 4; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, contents.layout().hash().data() + size_t{8} * i, sizeof word);
      pool().store(words_.meetings(RunWords::hash + i), word);
    }
    return Status();
  }

  // Returns the result of the last rank.
  Status told(int error) {
    char text[detail_capacity] = "";
    const bool is_told =
        file_ != nullptr && read_all(*file_, text, sizeof text, 0).ok() && text[0] != 0;
    text[sizeof text - 1] = 0;
    return fail(error, "%s", is_told ? text : "another rank cannot agree on the definitions");
  }

  [[nodiscard]] pool::Pool& pool() const { return run_.set().fs().pool; }

  Run& run_;
  const RunWords& words_;
  file::File* file_;
};

}  // namespace

Result<Contents> agree(Run* run, const Definitions& definitions, const LayoutChoice& choice,
                       uint64_t arrived) {
  SetFile& set = run->set();
  const std::vector<uint8_t> record = encode_definitions(definitions, choice);
  if (run->ranks() == 1 && run->exchange() == nullptr) {
    CAIRN_TRY_ASSIGN(of_node, join_ranks({record}, {0}));
    CAIRN_TRY_ASSIGN(contents, join_nodes({of_node}));
    CAIRN_TRY(store_contents(set.fs(), set.directory(), contents));
    return contents;
  }
  const auto number = tier::find_or_make(set.fs(), set.directory(), agree_name, S_IFREG | 0600);
  if (!number.ok()) return Agreement(run, nullptr).agree(number.status(), record, arrived);
  tier::PoolFile file(set.fs(), *number, O_RDWR);
  file::File* const opened = file.status().ok() ? &*file : nullptr;
  return Agreement(run, opened).agree(file.status(), record, arrived);
}

Result<Agreed> make_agreed(Contents contents, const Run& run) {
  Agreed agreed;
  agreed.contents = std::move(contents);
  CAIRN_TRY_ASSIGN(packed, pack_region(agreed.contents, run.number()));
  agreed.packed = std::move(packed);
  CAIRN_TRY_ASSIGN(regions, place_regions(agreed.contents, run.numbers()));
  agreed.regions = std::move(regions);
  return agreed;
}

}  // namespace cairn::checkpoint
