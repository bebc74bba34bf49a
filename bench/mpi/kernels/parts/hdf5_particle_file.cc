// The ParticleFile of parallel HDF5. A build without CAIRN_BENCH_HDF5 has none.
#include "common/job.h"
#include "files/mpi_hints.h"
#include "parts/particle_file.h"

#ifdef CAIRN_BENCH_HDF5
#include <hdf5.h>
#endif

namespace kernels {

#ifdef CAIRN_BENCH_HDF5
namespace {

constexpr const char* step_name = "Step#0";
constexpr const char* origin = "Tested by Suren";  // as VPIC-IO writes it

class Hdf5ParticleFile : public ParticleFile {
 public:
  explicit Hdf5ParticleFile(ParticleAccess access) : wanted_(std::move(access.hints)) {
    transfer_ = checked(H5Pcreate(H5P_DATASET_XFER), "property list");
    checked(H5Pset_dxpl_mpio(transfer_,
                             access.collective ? H5FD_MPIO_COLLECTIVE : H5FD_MPIO_INDEPENDENT),
            "transfer mode");
  }

  ~Hdf5ParticleFile() override { H5Pclose(transfer_); }
  Hdf5ParticleFile(const Hdf5ParticleFile&) = delete;
  Hdf5ParticleFile& operator=(const Hdf5ParticleFile&) = delete;

  void create(const std::string& path, int64_t total) override {
    path_ = path;
    total_ = total;
    const hid_t access = file_access();
    file_ = checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), "create");
    H5Pclose(access);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, std::string(origin).size() + 1);
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute =
        checked(H5Acreate2(file_, "Origin", type, space, H5P_DEFAULT, H5P_DEFAULT), "attribute");
    checked(H5Awrite(attribute, type, origin), "attribute");
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
  }

  void rewrite(const std::string& path, int64_t total) override {
    rewrites_ = true;
    if (open_for(path, H5F_ACC_RDWR) != total)
      fail(path_, "has " + std::to_string(total_) + " particles, and not " + std::to_string(total) +
                      ": remove it, or give the number it was made with");
  }

  void begin_step() override {
    if (rewrites_) return;
    step_ = checked(H5Gcreate2(file_, step_name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "group");
  }

  int64_t open(const std::string& path) override { return open_for(path, H5F_ACC_RDONLY); }

  void write(int variable, const void* from, int64_t first, int64_t count) override {
    const Variable& about = particle_variables()[static_cast<size_t>(variable)];
    const hid_t set = rewrites_ ? open_set(about) : create_set(about);
    const Slab slab(set, first, count);
    checked(H5Dwrite(set, type_of(about), slab.memory, slab.disk, transfer_, from),
            std::string("write of ") + about.name);
    H5Dclose(set);
  }

  void read(int variable, void* to, int64_t first, int64_t count) override {
    const Variable& about = particle_variables()[static_cast<size_t>(variable)];
    const hid_t set = open_set(about);
    const Slab slab(set, first, count);
    checked(H5Dread(set, type_of(about), slab.memory, slab.disk, transfer_, to),
            std::string("read of ") + about.name);
    H5Dclose(set);
  }

  void sync() override { checked(H5Fflush(file_, H5F_SCOPE_GLOBAL), "flush"); }

  void close() override {
    H5Gclose(step_);
    checked(H5Fclose(file_), "close");
  }

 private:
  // One rank's part of a dataset, and as many values in memory.
  struct Slab {
    Slab(hid_t set, int64_t first, int64_t count) {
      const auto start = static_cast<hsize_t>(first);
      const auto length = static_cast<hsize_t>(count);
      memory = H5Screate_simple(1, &length, nullptr);
      disk = H5Dget_space(set);
      H5Sselect_hyperslab(disk, H5S_SELECT_SET, &start, nullptr, &length, nullptr);
    }
    ~Slab() {
      H5Sclose(disk);
      H5Sclose(memory);
    }
    Slab(const Slab&) = delete;
    Slab& operator=(const Slab&) = delete;

    hid_t memory = 0;
    hid_t disk = 0;
  };

  // Returns the number of particles.
  int64_t open_for(const std::string& path, unsigned mode) {
    path_ = path;
    const hid_t access = file_access();
    file_ = checked(H5Fopen(path.c_str(), mode, access), "open");
    H5Pclose(access);
    step_ = checked(H5Gopen2(file_, step_name, H5P_DEFAULT), "open of /Step#0");
    const hid_t set = open_set(particle_variables()[0]);
    const hid_t space = H5Dget_space(set);
    total_ = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    H5Dclose(set);
    return total_;
  }

  [[nodiscard]] hid_t open_set(const Variable& about) const {
    return checked(H5Dopen2(step_, about.name, H5P_DEFAULT),
                   std::string("open of /Step#0/") + about.name);
  }

  [[nodiscard]] hid_t create_set(const Variable& about) const {
    const auto extent = static_cast<hsize_t>(total_);
    const hid_t space = H5Screate_simple(1, &extent, nullptr);
    const hid_t set = checked(
        H5Dcreate2(step_, about.name, type_of(about), space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        std::string("create of ") + about.name);
    H5Sclose(space);
    return set;
  }

  static hid_t type_of(const Variable& variable) {
    return variable.kind == Kind::real ? H5T_NATIVE_FLOAT : H5T_NATIVE_INT32;
  }

  template <typename Id>
  Id checked(Id id, const std::string& what) const {
    if (id < 0) fail(path_.empty() ? "HDF5" : path_, "HDF5: " + what + " failed");
    return id;
  }

  [[nodiscard]] hid_t file_access() const {
    MPI_Info info = make_info(wanted_);
    const hid_t access = checked(H5Pcreate(H5P_FILE_ACCESS), "property list");
    checked(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, info), "MPI-IO driver");
    free_info(&info);
    return access;
  }

  Hints wanted_;
  std::string path_;
  int64_t total_ = 0;
  bool rewrites_ = false;
  hid_t transfer_ = 0;
  hid_t file_ = 0;
  hid_t step_ = 0;
};

}  // namespace

std::unique_ptr<ParticleFile> hdf5_particle_file(const ParticleAccess& access) {
  return std::make_unique<Hdf5ParticleFile>(access);
}

#else

std::unique_ptr<ParticleFile> hdf5_particle_file(const ParticleAccess&) { return nullptr; }

#endif

}  // namespace kernels
