// ParticleFile is a file of VPIC-IO's particles: parallel HDF5 as the original's, or plain MPI-IO.
//   HDF5:   datasets /Step#0/x y z id1 id2 px py pz, contiguous; root attribute Origin
//   MPI-IO: the same variables one after another from offset 0, without a header
#pragma once

#include <memory>
#include <string>

#include "common/arguments.h"
#include "files/file.h"
#include "parts/particles.h"

namespace kernels {

// All calls are collective. collective transfers: with the calls (or the property) for it.
struct ParticleAccess {
  Api api = Api::mpiio;
  bool collective = true;
  Hints hints = {};
};

class ParticleFile {
 public:
  virtual ~ParticleFile() = default;
  virtual void create(const std::string& path, int64_t total) = 0;
  // Opens a file of `total` particles, to write over them.
  virtual void rewrite(const std::string& path, int64_t total) = 0;
  // Returns the number of particles.
  virtual int64_t open(const std::string& path) = 0;
  virtual void begin_step() {}  // makes room for the variables
  virtual void write(int variable, const void* from, int64_t first, int64_t count) = 0;
  virtual void read(int variable, void* to, int64_t first, int64_t count) = 0;
  virtual void sync() = 0;
  virtual void close() = 0;
  [[nodiscard]] virtual Hints hints() const { return {}; }
};

std::unique_ptr<ParticleFile> mpi_particle_file(const ParticleAccess& access);
// Null if this build has no parallel HDF5.
std::unique_ptr<ParticleFile> hdf5_particle_file(const ParticleAccess& access);
std::unique_ptr<ParticleFile> particle_file(const ParticleAccess& access);

// Adds a mistake if so many particles of each rank are too many for a file or a call.
void check_particles_fit(const char* option, const ParticleAccess& access, int64_t particles,
                         Mistakes* mistakes);

// -a and --independent of a kernel.
void particle_arguments(Arguments* arguments, ParticleAccess* access);

}  // namespace kernels
