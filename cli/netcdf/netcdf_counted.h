// NetcdfCounted says how variables of which each rank has any number of elements stand in a file of
// `cairn ckpt export`: as the ragged arrays of the CF conventions.
//
// A ragged array is one dimension of values behind each other, and the variable that counts them
// has the attribute sample_dimension (a contiguous ragged array). Particles are one dimension, and
// their key has the attribute instance_dimension (an indexed ragged array). Data of ranks are a
// contiguous ragged array whose counts are a variable of their own.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "netcdf/netcdf_dimensions.h"
#include "sets/ckpt_set.h"

namespace cairn::cli {

inline constexpr const char* cairn_kind = "cairn_kind";
inline constexpr const char* cairn_over = "cairn_over";
inline constexpr const char* cairn_key = "cairn_key";
inline constexpr const char* sample_dimension = "sample_dimension";
inline constexpr const char* instance_dimension = "instance_dimension";

// How many elements each rank has, by the name of a counted variable.
using RankCounts = std::map<std::string, std::vector<uint64_t>>;

class NetcdfCounted {
 public:
  // `counts`: of all counted variables, which get their shapes and names of dimensions. Variables
  // are added that the version does not have.
  NetcdfCounted(const RankCounts& counts, std::vector<CkptVariable>* variables);

  // The attributes that tell how they belong together.
  void add_attributes(const NetcdfDimensions& dimensions,
                      std::vector<CkptVariable>* variables) const;
  // The values of a variable that was added, of type int64; null: the version has it.
  [[nodiscard]] const std::vector<int64_t>* values(size_t variable) const;

 private:
  void note_given(const CkptVariable& variable);
  [[nodiscard]] std::string free_dimension(std::string name, uint64_t size);
  std::string dimension_of_particles(uint64_t size);
  void add_counts(const CkptVariable& variable, const std::vector<uint64_t>& of_ranks);

  std::vector<CkptVariable>& all_;
  std::map<std::string, uint64_t> sizes_;  // of dimensions that have names
  std::map<size_t, std::vector<int64_t>> values_;
  std::map<size_t, size_t> counted_by_;  // a variable that was added, by that whose ranks it counts
};

// Reads from the attributes of a file how a variable is counted. `variable` has its shape already.
void read_counted(const std::vector<CkptAttribute>& attributes, CkptVariable* variable);

}  // namespace cairn::cli
