// One HDF5 file with a dataset for each variable, created anew for each version as applications do,
// and written by collective transfers.
#include "back_end.h"

#ifdef CAIRN_BENCH_HDF5
#include <hdf5.h>
#include <mpi.h>

#include <vector>

namespace palm {
namespace {

hid_t must_id(hid_t id, const std::string& what) {
  if (id < 0) stop("HDF5: " + what);
  return id;
}

// Elements as integers: nothing is converted. Others as bytes, one more dimension.
hid_t type_of(int64_t element) {
  return element == 8 ? H5T_NATIVE_UINT64 : element == 4 ? H5T_NATIVE_UINT32 : H5T_NATIVE_UINT8;
}

class ParallelHdf5 : public BackEnd {
 public:
  explicit ParallelHdf5(const std::string& directory) : path_(directory + "/hdf5") {
    access_ = must_id(H5Pcreate(H5P_FILE_ACCESS), "property list");
    H5Pset_fapl_mpio(access_, MPI_COMM_WORLD, MPI_INFO_NULL);
    H5Pset_alignment(access_, 65536, 4096);
    H5Pset_coll_metadata_write(access_, true);
    H5Pset_all_coll_metadata_ops(access_, true);
    creation_ = must_id(H5Pcreate(H5P_DATASET_CREATE), "property list");
    H5Pset_fill_time(creation_, H5D_FILL_TIME_NEVER);
    H5Pset_alloc_time(creation_, H5D_ALLOC_TIME_EARLY);
    transfer_ = must_id(H5Pcreate(H5P_DATASET_XFER), "property list");
    H5Pset_dxpl_mpio(transfer_, H5FD_MPIO_COLLECTIVE);
  }

  void create(Model& model, int64_t) override {
    buffer_.resize(static_cast<size_t>(model.largest_box()));
    const hid_t file =
        must_id(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_), path_);
    for (Variable& variable : model.variables()) {
      const Shape shape = shape_of(variable);
      const hid_t space =
          H5Screate_simple(static_cast<int>(shape.global.size()), shape.global.data(), nullptr);
      const hid_t set = must_id(H5Dcreate2(file, variable.name.c_str(), type_of(variable.element),
                                           space, H5P_DEFAULT, creation_, H5P_DEFAULT),
                                variable.name);
      const hid_t memory =
          H5Screate_simple(static_cast<int>(shape.count.size()), shape.count.data(), nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, shape.offset.data(), nullptr, shape.count.data(),
                          nullptr);
      // Rank 0 alone writes the variables that all ranks hold.
      if (variable.kind == Kind::replicated && model.rank != 0) {
        H5Sselect_none(space);
        H5Sselect_none(memory);
      }
      variable.pack(buffer_.data());
      if (H5Dwrite(set, type_of(variable.element), memory, space, transfer_, buffer_.data()) < 0)
        stop("HDF5: write of " + variable.name);
      H5Sclose(memory);
      H5Sclose(space);
      H5Dclose(set);
    }
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    H5Fclose(file);
  }

  void restore(Model& model) override {
    buffer_.resize(static_cast<size_t>(model.largest_box()));
    const hid_t file = must_id(H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access_), path_);
    for (Variable& variable : model.variables()) {
      const Shape shape = shape_of(variable);
      const hid_t set = must_id(H5Dopen2(file, variable.name.c_str(), H5P_DEFAULT), variable.name);
      const hid_t space = H5Dget_space(set);
      const hid_t memory =
          H5Screate_simple(static_cast<int>(shape.count.size()), shape.count.data(), nullptr);
      H5Sselect_hyperslab(space, H5S_SELECT_SET, shape.offset.data(), nullptr, shape.count.data(),
                          nullptr);
      if (H5Dread(set, type_of(variable.element), memory, space, transfer_, buffer_.data()) < 0)
        stop("HDF5: read of " + variable.name);
      variable.unpack(buffer_.data());
      H5Sclose(memory);
      H5Sclose(space);
      H5Dclose(set);
    }
    H5Fclose(file);
  }

  [[nodiscard]] std::string file(int rank) const override { return rank == 0 ? path_ : ""; }

 private:
  struct Shape {
    std::vector<hsize_t> global, offset, count;
  };
  static Shape shape_of(const Variable& variable) {
    Shape shape;
    shape.global.assign(variable.global.begin(), variable.global.end());
    shape.offset.assign(variable.offset.begin(), variable.offset.end());
    shape.count.assign(variable.count.begin(), variable.count.end());
    const bool is_whole = variable.element == 8 || variable.element == 4 || variable.element == 1;
    if (is_whole && !shape.global.empty()) return shape;
    const hsize_t more = is_whole ? 1 : static_cast<hsize_t>(variable.element);
    shape.global.push_back(more);
    shape.offset.push_back(0);
    shape.count.push_back(more);
    return shape;
  }
  std::string path_;
  hid_t access_ = -1;
  hid_t creation_ = -1;
  hid_t transfer_ = -1;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<BackEnd> parallel_hdf5(const std::string& directory) {
  return std::make_unique<ParallelHdf5>(directory);
}

}  // namespace palm

#else

namespace palm {

std::unique_ptr<BackEnd> parallel_hdf5(const std::string&) { return nullptr; }

}  // namespace palm
#endif
