// RunOnPool: a run of one process in a pool of its own, with an array that it writes, for unit
// tests of what a session consists of.
#pragma once

#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/define/shared_contents.h"
#include "checkpoint/session/joined_run.h"
#include "checkpoint/versions/set_view.h"
#include "checkpoint/write/writer.h"
#include "support/fresh_pool.h"

namespace cairn::checkpoint {

// An array of one dimension that all of a run's tests define as "t".
struct SampleArray {
  explicit SampleArray(size_t elements = 100) : values(elements) {}
  std::vector<double> values;

  [[nodiscard]] ArrayPlace place() {
    ArrayShape shape;
    shape.type = Type::float64;
    shape.dimensions = 1;
    shape.extent[0] = static_cast<int64_t>(values.size());
    auto view = ArrayView::make(shape);
    EXPECT_TRUE(view.ok()) << last_detail();
    return {*view, reinterpret_cast<uint8_t*>(values.data())};
  }
  // Returns the definition of an array that one rank has as a whole.
  [[nodiscard]] Definition definition() {
    Definition definition;
    definition.place = place();
    definition.kind = DecompositionKind::boxes;
    definition.whole = definition.box = whole_of(1, {values.size()});
    EXPECT_TRUE(check_definition("t", &definition).ok()) << last_detail();
    return definition;
  }
  void set(int64_t version) {
    std::iota(values.begin(), values.end(), static_cast<double>(version) * 1000);
  }
  [[nodiscard]] bool has(int64_t version) const {
    SampleArray other(values.size());
    other.set(version);
    return other.values == values;
  }
};

// A directory for copies, removed with the object.
class LowerDirectory {
 public:
  LowerDirectory() { EXPECT_NE(mkdtemp(path_.data()), nullptr); }
  ~LowerDirectory() { remove(); }
  LowerDirectory(const LowerDirectory&) = delete;
  LowerDirectory& operator=(const LowerDirectory&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }
  void remove() { (void)!std::system(("rm -rf '" + path_ + "'").c_str()); }

 private:
  std::string path_ = "/dev/shm/cairn-lower-XXXXXX";
};

class RunOnPool : public file::FreshPool {
 protected:
  // Begins the run. `directory`: of copies; empty: there is none.
  void begin(const std::string& directory = "") {
    joined.emplace(&view);
    ASSERT_TRUE(joined->open({"field", fs.get(), {}, directory, {}}, nullptr, Status()).ok())
        << last_detail();
    joined->keep();
    writer.emplace(run(), view.slot_cache(), view.catalogue(), Retention{2});
    writer->continue_from(lineage_anew(run()->last_sequence()));
    contents.definitions().put("t", array.definition());
  }
  // Ends it, as a later run would find the set.
  void end() {
    ASSERT_TRUE(joined->end(true).ok()) << last_detail();
    writer.reset();
    joined.reset();
  }
  checkpoint::Run* run() { return joined->run(); }

  // Stages a version of the array; returns its sequence.
  uint64_t stage(int64_t number) {
    if (!contents.are_agreed()) {
      EXPECT_TRUE(contents.agree(run(), 0, writer->sequence()).ok()) << last_detail();
    }
    array.set(number);
    VersionFacts facts;
    facts.number = number;
    const uint64_t sequence = writer->write(contents.agreed(), contents.definitions(), facts);
    EXPECT_TRUE(writer->status().ok()) << writer->text();
    return sequence;
  }
  // Writes one, which is committed then.
  uint64_t write(int64_t number) {
    const uint64_t sequence = stage(number);
    EXPECT_TRUE(writer->wait(sequence, 0).ok()) << last_detail();
    const Outcome* const outcome = writer->outcome(sequence);
    EXPECT_TRUE(outcome != nullptr && outcome->is_committed);
    return sequence;
  }

  SampleArray array;
  SharedContents contents;
  SetView view;
  std::optional<JoinedRun> joined;
  std::optional<Writer> writer;
};

}  // namespace cairn::checkpoint
