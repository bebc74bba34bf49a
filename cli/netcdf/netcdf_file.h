// NetcdfFile: a new file that is HDF5 and netCDF-4, without the data: its datasets have their
// places in the file, and a process that writes the bytes there needs no HDF5.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "machine/data_file.h"
#include "netcdf/hdf5_library.h"
#include "netcdf/netcdf_dimensions.h"
#include "sets/ckpt_set.h"

namespace cairn::cli {

// The place of a variable's bytes in the file; it has none if `offset` is h5_no_address.
struct NetcdfPlace {
  size_t variable = 0;
  uint64_t offset = h5_no_address;
};

class NetcdfFile {
 public:
  // Replaces what is in `file`, which must be open for writing.
  explicit NetcdfFile(const DataFile& file);

  void add_attributes(const std::vector<CkptAttribute>& attributes);
  // All dimensions, and those of the variables that `is_beside` says, with their attributes. In a
  // file beside there are no dimensions.
  std::vector<NetcdfPlace> add_variables(const std::vector<CkptVariable>& variables,
                                         const NetcdfDimensions& dimensions, bool is_beside);
  // Throws if what is there did not reach the file system.
  void close();

 private:
  struct Reference {  // an entry of REFERENCE_LIST
    uint64_t dataset;
    int32_t dimension;
    int32_t padding;
  };

  H5Id create_dataset(const std::string& name, Hid type, const std::vector<uint64_t>& shape,
                      bool is_early) const;
  void add_dimension(const NetcdfDimension& dimension);
  NetcdfPlace add_variable(const CkptVariable& variable, size_t index, const std::string& name,
                           const std::vector<uint64_t>& shape);
  void attach(const std::string& name, const std::vector<size_t>& indexes,
              const std::vector<NetcdfDimension>& dimensions);
  void write_references(const std::vector<NetcdfDimension>& dimensions);
  Hid committed_type(uint32_t type);
  [[nodiscard]] uint64_t reference_to(const std::string& name) const;
  void put_text(Hid object, const std::string& key, const std::string& text) const;
  void put(Hid object, const std::string& key, Hid type, const void* values,
           std::vector<uint64_t> shape) const;
  void put_attribute(Hid object, const std::string& key, const CkptAttribute& attribute);
  void put_attributes(Hid object, const CkptVariable& variable);

  const Hdf5& h5_;
  std::string path_;
  H5Id file_;
  std::map<uint32_t, H5Id> types_;                       // committed ones
  std::map<size_t, std::vector<Reference>> references_;  // by dimension
};

}  // namespace cairn::cli
