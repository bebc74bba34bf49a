// A checkpoint set of a pool, as commands look at it: its versions, variables and attributes.
#pragma once

#include <cairn/checkpoint.h>

#include <cstdint>
#include <string>
#include <vector>

#include "pools/pool_handle.h"
#include "sets/kinds.h"

namespace cairn::cli {

struct CkptAttribute {
  std::string key;
  uint32_t type = 0;
  uint32_t count = 0;
  std::string values;  // bytes
};

struct CkptVersion {
  cairn_checkpoint_info info{};  // without attributes
  std::vector<CkptAttribute> attributes;
};

struct CkptVariable {
  std::string name;
  uint32_t type = 0;
  uint64_t element_size = 0;
  std::vector<uint64_t> shape;
  bool is_required = false;
  bool is_replicated = false;
  std::vector<CkptAttribute> attributes;
  uint32_t kind = CAIRN_BLOCK;  // enum cairn_distribution_kind
  std::string over, key;        // of RAGGED and PARTICLES; "": it has none

  [[nodiscard]] Counting counting() const { return facts_of(kind).counting; }
  // Each rank has any number of elements. The shape is empty if other hosts have some of them.
  [[nodiscard]] bool is_counted() const { return counting() != Counting::by_layout; }
  [[nodiscard]] uint64_t elements() const;
  // Null: it has none.
  [[nodiscard]] const CkptAttribute* attribute(const std::string& wanted) const;
};

// The part of a version that the pool of one host has.
struct CkptPart {
  uint32_t number = 0;
  uint32_t presence = CAIRN_PART_MISSING;  // enum cairn_part_presence
  uint64_t bytes = 0;
  std::string host;
};

// Elements of a variable that a part has: a box of its array, or those of a rank.
struct CkptPiece {
  uint32_t rank = 0;
  std::vector<int64_t> offset;
  std::vector<int64_t> count;
};

// SET, or POOL:SET.
struct CkptName {
  std::string pool;
  std::string set;
};
CkptName parse_ckpt_name(const std::string& text);

// "latest" or a number.
int64_t parse_version(const std::string& text);
std::string version_text(int64_t version);

class CkptSet {
 public:
  // Throws if the pool has no such set. `flags`: of cairn_checkpoint_init(), beside LOOK.
  CkptSet(const Pool& pool, const std::string& name, uint32_t flags = 0);
  ~CkptSet() { cairn_checkpoint_finalize(checkpoint_); }
  CkptSet(const CkptSet&) = delete;
  CkptSet& operator=(const CkptSet&) = delete;

  [[nodiscard]] cairn_checkpoint* get() const { return checkpoint_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  // Newest first.
  [[nodiscard]] const std::vector<CkptVersion>& versions() const { return versions_; }
  // A line for each thing that is damaged.
  [[nodiscard]] const std::vector<std::string>& damaged() const { return damaged_; }
  // The newest of this number, or the latest; those of the newest one's line come first. Throws if
  // there is none.
  [[nodiscard]] const CkptVersion& version(int64_t number) const;
  // How many elements each rank has of a variable that is counted.
  [[nodiscard]] std::vector<uint64_t> counts(int64_t number, const CkptVariable& variable) const;
  // Gives counted variables the shape of an array of all their elements. Throws if other hosts have
  // some of them.
  void count(int64_t number, std::vector<CkptVariable>* variables) const;
  // The variables of the version that version() finds.
  [[nodiscard]] std::vector<CkptVariable> variables(int64_t number) const;
  // The parts of that version.
  [[nodiscard]] std::vector<CkptPart> parts(int64_t number) const;
  [[nodiscard]] std::vector<CkptPiece> pieces(int64_t number, const CkptVariable& variable,
                                              uint32_t part) const;

 private:
  cairn_checkpoint* checkpoint_ = nullptr;
  std::string name_;
  std::vector<CkptVersion> versions_;
  std::vector<std::string> damaged_;
};

// "float64", "character(12)".
std::string element_text(uint32_t type, uint64_t element_size);
// The type's own name, "float64", and its bytes; 0: the variable says.
std::string ckpt_type_name(uint32_t type);
uint32_t ckpt_type_size(uint32_t type);
std::string numbers_text(const std::vector<uint64_t>& numbers, const char* between);
// "512 x 512"; "scalar".
std::string shape_text(const std::vector<uint64_t>& shape);
std::string attribute_text(const CkptAttribute& attribute);
Json attribute_json(const CkptAttribute& attribute);
Json attributes_json(const std::vector<CkptAttribute>& attributes);
// A float16 or bfloat16.
float half_value(uint32_t type, uint16_t bits);

}  // namespace cairn::cli
