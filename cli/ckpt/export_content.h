// ExportContent: what a file of `cairn ckpt export` holds of a version, and how its elements stand
// there. WholeExport and PartsExport put them in.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine/data_file.h"
#include "netcdf/netcdf_counted.h"
#include "netcdf/netcdf_file.h"
#include "sets/ckpt_set.h"

namespace cairn::cli {

class ExportContent {
 public:
  // `counts`: of all counted variables of the version. Throws if it has no variables.
  ExportContent(const CkptSet& set, const CkptVersion& version, const RankCounts& counts);
  ExportContent(const ExportContent&) = delete;
  ExportContent& operator=(const ExportContent&) = delete;

  // The variables of the version, and those that only the file has.
  [[nodiscard]] const std::vector<CkptVariable>& variables() const { return variables_; }
  // The values of a variable that only the file has; null: the version has the variable.
  [[nodiscard]] const std::vector<int64_t>* values(size_t variable) const {
    return counted_.values(variable);
  }
  // Are there variables of types that netCDF does not have?
  [[nodiscard]] bool has_beside() const { return has_beside_; }
  [[nodiscard]] uint64_t bytes() const { return bytes_; }  // of all elements
  // Bytes of an element in the file.
  [[nodiscard]] uint64_t unit(size_t variable) const;
  // Elements as they stand in the file: where they are, or in `buffer`.
  const uint8_t* in_file(size_t variable, const uint8_t* elements, uint64_t count,
                         std::vector<uint8_t>* buffer) const;
  // Makes a new file one without elements, and says where they go.
  [[nodiscard]] std::vector<NetcdfPlace> make_skeleton(const DataFile& file, bool is_beside) const;

 private:
  const CkptSet& set_;
  const CkptVersion& version_;
  std::vector<CkptVariable> variables_;
  NetcdfCounted counted_;
  NetcdfDimensions dimensions_;
  bool has_beside_ = false;
  uint64_t bytes_ = 0;
};

// Takes some bytes of a variable that go to this place.
using PutBytes =
    std::function<void(size_t variable, const uint8_t* bytes, uint64_t size, uint64_t offset)>;
// Calls `pass` twice: what it puts is written and synced, and then compared with the file. False:
// `pass` returned false. Throws if something is not there as it was written; `path` names the file.
bool write_and_compare(const DataFile& file, const std::string& path, const ExportContent& content,
                       const std::function<bool(const PutBytes& put)>& pass);

}  // namespace cairn::cli
