// A File that is one HDF5 dataset of bytes, `data`. A build without CAIRN_BENCH_HDF5 has none.
#include "common/job.h"
#include "files/file.h"
#include "files/mpi_hints.h"

#ifdef CAIRN_BENCH_HDF5
#include <hdf5.h>
#endif

namespace kernels {

#ifdef CAIRN_BENCH_HDF5
namespace {

constexpr const char* set_name = "data";

class Hdf5File : public File {
 public:
  Hdf5File(bool shared, bool collective, Hints hints)
      : comm_(shared ? MPI_COMM_WORLD : MPI_COMM_SELF), wanted_(std::move(hints)) {
    transfer_ = checked(H5Pcreate(H5P_DATASET_XFER), "property list");
    checked(H5Pset_dxpl_mpio(transfer_, collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
            "transfer mode");
  }

  ~Hdf5File() override { H5Pclose(transfer_); }
  Hdf5File(const Hdf5File&) = delete;
  Hdf5File& operator=(const Hdf5File&) = delete;

  void expect(int64_t size) override { size_ = size; }

  void open(const std::string& path, Open how) override {
    path_ = path;
    const hid_t access = file_access();
    if (how == Open::create) {
      file_ = checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
      create_set();
    } else {
      file_ = checked(
          H5Fopen(path.c_str(), how == Open::read ? H5F_ACC_RDONLY : H5F_ACC_RDWR, access), "open");
      set_ = checked(H5Dopen2(file_, set_name, H5P_DEFAULT), "open of the dataset");
      if (how == Open::rewrite && size() != size_)
        fail(path_, "has a dataset of " + std::to_string(size()) + " bytes, and not of " +
                        std::to_string(size_) + ": remove it, or give the sizes it was made with");
    }
    H5Pclose(access);
  }

  void write(const void* from, int64_t size, int64_t offset) override {
    const Part part(set_, size, offset);
    checked(H5Dwrite(set_, H5T_NATIVE_UCHAR, part.memory, part.disk, transfer_, from),
            "write at " + std::to_string(offset));
  }

  void read(void* to, int64_t size, int64_t offset) override {
    const Part part(set_, size, offset);
    checked(H5Dread(set_, H5T_NATIVE_UCHAR, part.memory, part.disk, transfer_, to),
            "read at " + std::to_string(offset));
  }

  void sync() override { checked(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush"); }

  int64_t size() override {
    const hid_t space = H5Dget_space(set_);
    const auto points = static_cast<int64_t>(H5Sget_simple_extent_npoints(space));
    H5Sclose(space);
    return points;
  }

  void close() override {
    H5Dclose(set_);
    checked(H5Fclose(file_), "close");
  }

 private:
  // [offset, offset + size) of the dataset, and as many bytes in memory.
  struct Part {
    Part(hid_t set, int64_t size, int64_t offset) {
      const auto start = static_cast<hsize_t>(offset);
      const auto length = static_cast<hsize_t>(size);
      memory = H5Screate_simple(1, &length, nullptr);
      disk = H5Dget_space(set);
      H5Sselect_hyperslab(disk, H5S_SELECT_SET, &start, nullptr, &length, nullptr);
    }
    ~Part() {
      H5Sclose(disk);
      H5Sclose(memory);
    }
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    hid_t memory = 0;
    hid_t disk = 0;
  };

  void create_set() {
    const auto extent = static_cast<hsize_t>(size_);
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
    set_ =
        checked(H5Dcreate2(file_, set_name, H5T_NATIVE_UCHAR, space, H5P_DEFAULT, how, H5P_DEFAULT),
                "create of the dataset");
    H5Pclose(how);
    H5Sclose(space);
  }

  [[nodiscard]] hid_t file_access() const {
    MPI_Info info = make_info(wanted_);
    const hid_t access = checked(H5Pcreate(H5P_FILE_ACCESS), "property list");
    checked(H5Pset_fapl_mpio(access, comm_, info), "MPI-IO driver");
    free_info(&info);
    return access;
  }

  template <typename Id>
  Id checked(Id id, const std::string& what) const {
    if (id < 0) fail(path_.empty() ? "HDF5" : path_, "HDF5: " + what + " failed");
    return id;
  }

  MPI_Comm comm_;
  Hints wanted_;
  std::string path_;
  int64_t size_ = 0;
  hid_t transfer_ = 0;
  hid_t file_ = 0;
  hid_t set_ = 0;
};

}  // namespace

std::unique_ptr<File> hdf5_file(bool shared, bool collective, Hints hints) {
  return std::make_unique<Hdf5File>(shared, collective, std::move(hints));
}

#else

std::unique_ptr<File> hdf5_file(bool, bool, Hints) { return nullptr; }

#endif

}  // namespace kernels
