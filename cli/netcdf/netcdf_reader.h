// NetcdfReader: variables of a file that is HDF5, as a checkpoint holds them.
#pragma once

#include <string>
#include <vector>

#include "machine/data_file.h"
#include "netcdf/hdf5_library.h"
#include "sets/ckpt_set.h"

namespace cairn::cli {

class NetcdfReader {
 public:
  // Throws if it is not HDF5.
  explicit NetcdfReader(DataFile file);

  [[nodiscard]] const std::vector<CkptAttribute>& attributes() const { return attributes_; }
  // Datasets of the root group, in the order of the file. Dimensions without a variable are left
  // out. So is what a checkpoint has no type for, what has no value, and what lies in other groups:
  // the reader warns of these.
  [[nodiscard]] const std::vector<CkptVariable>& variables() const { return variables_; }
  // All elements of the i-th.
  [[nodiscard]] std::vector<uint8_t> read(size_t i) const;

 private:
  void look_at(const std::string& name);
  [[nodiscard]] std::vector<CkptAttribute> attributes_of(Hid object) const;
  void tell_of_group(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> datasets_below(const std::string& group) const;
  [[nodiscard]] std::vector<std::string> link_names(const std::string& group) const;

  const Hdf5& h5_;
  DataFile opened_;
  std::string path_;
  H5Id file_;
  std::vector<CkptAttribute> attributes_;
  std::vector<CkptVariable> variables_;
  std::vector<std::string> names_;  // of the datasets
  bool is_exported_ = false;        // by `cairn ckpt export`
};

}  // namespace cairn::cli
