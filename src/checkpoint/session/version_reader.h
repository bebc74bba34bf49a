// VersionReader: reads one version without restarting from it: arrays of the whole version, and in
// a process that only looks at a set also what a part or a rank has.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/define/definitions.h"
#include "checkpoint/restart/counted_line.h"
#include "checkpoint/restart/stored_version.h"
#include "checkpoint/versions/set_view.h"

namespace cairn::checkpoint {

// A part of a version of several hosts.
struct VersionPart {
  StoredVersion::Presence presence = StoredVersion::Presence::none;
  uint32_t ranks = 0;  // that wrote it
  uint64_t bytes = 0;
  std::string host;  // whose ranks wrote it
};

// Elements of a variable that a part has: a box of the global array, or the elements of one rank of
// a counted variable.
struct PartPiece {
  Box box;
  uint32_t rank = 0;
};

// A box of an array as a program names it, by dimension of the array; null: the whole array.
struct WantedBox {
  const int64_t* offset = nullptr;
  const int64_t* count = nullptr;
};

class VersionReader {
 public:
  using Find = std::function<Result<StoredVersion>(const VersionNumber& number)>;

  // `view` stays where it is.
  explicit VersionReader(SetView* view) : view_(*view) {}
  VersionReader(const VersionReader&) = delete;
  VersionReader& operator=(const VersionReader&) = delete;

  // Makes it find versions by `find`, as a run does. Otherwise it finds those of the view,
  // abandoned ones too.
  void find_with(Find find) { find_ = std::move(find); }

  // Opens a version, whose slots are not reused until another version is opened, or end().
  // ENOENT.
  Status begin(const VersionNumber& number);
  // Ends a read. A reader without find_with() keeps the version open for the next read.
  void end() {
    if (find_) forget();
  }
  // Closes the version.
  void forget();
  // Returns the contents of the version that is open.
  [[nodiscard]] const Contents& contents() const { return stored_->contents(); }

  // All of these open the version first. `array`: an array whose extents are the counts. ENOENT:
  // there is no such version or variable. EINVAL: another type or kind, or elements that the
  // version does not have. EHOSTDOWN, EUCLEAN, EIO.
  //
  // Reads a box of the global array of a variable. Counted variables have one dimension.
  Status read_box(const VersionNumber& number, const std::string& name, const WantedBox& wanted,
                  const ArrayPlace& array);
  // Returns the elements that each rank has of a counted variable. EMSGSIZE: more than `capacity`
  // ranks wrote the version.
  Result<std::vector<uint64_t>> count(const VersionNumber& number, const std::string& name,
                                      uint32_t capacity);
  // Returns the elements of all ranks, by variable; 0 for variables of a fixed number. A reader
  // without find_with() counts UINT64_MAX if parts are on other hosts.
  Result<std::vector<uint64_t>> count_all(const VersionNumber& number);
  Result<std::vector<VersionPart>> list_parts(const VersionNumber& number);
  // Returns what a part has of a variable.
  Result<std::vector<PartPiece>> list_pieces(const VersionNumber& number, const std::string& name,
                                             uint32_t part);
  // Reads elements that one rank wrote of a counted variable, from `first` on.
  Status read_rank(const VersionNumber& number, const std::string& name, uint32_t rank,
                   int64_t first, const ArrayPlace& array);
  // Reads elements that a ragged variable has for some of its cells, from `first` on.
  Status read_lists(const VersionNumber& number, const std::string& name, const WantedBox& cells,
                    int64_t first, const ArrayPlace& array);

 private:
  struct Found {
    uint32_t index = 0;
    Variable variable;
    const Decomposition* decomposition = nullptr;
  };
  Result<Found> find_variable(const VersionNumber& number, const std::string& name);
  // Return the line of a variable, or of some of its cells, which stays for the next read.
  Result<CountedLine*> find_line(uint32_t variable);
  Result<CountedLine*> find_lists(uint32_t variable, const Box& cells);

  SetView& view_;
  Find find_;
  std::optional<StoredVersion> stored_;
  std::unique_ptr<CountedLine> line_;  // of a variable of stored_
};

}  // namespace cairn::checkpoint
