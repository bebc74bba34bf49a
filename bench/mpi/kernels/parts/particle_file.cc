#include "parts/particle_file.h"

#include <algorithm>

#include "common/job.h"

namespace kernels {
namespace {

constexpr int64_t most_particles = INT64_MAX / value_bytes;

class MpiParticleFile : public ParticleFile {
 public:
  explicit MpiParticleFile(const ParticleAccess& access)
      : file_(mpi_file(true, access.collective, access.hints)) {}

  void create(const std::string& path, int64_t total) override {
    total_ = total;
    file_->open(path, Open::create);
  }

  void rewrite(const std::string& path, int64_t total) override {
    total_ = total;
    file_->open(path, Open::rewrite);
  }

  int64_t open(const std::string& path) override {
    file_->open(path, Open::read);
    total_ = file_->size() / particle_bytes;
    return total_;
  }

  void write(int variable, const void* from, int64_t first, int64_t count) override {
    file_->write(from, count * value_bytes, offset(variable, first));
  }

  void read(int variable, void* to, int64_t first, int64_t count) override {
    file_->read(to, count * value_bytes, offset(variable, first));
  }

  void sync() override { file_->sync(); }
  void close() override { file_->close(); }
  [[nodiscard]] Hints hints() const override { return file_->hints(); }

 private:
  [[nodiscard]] int64_t offset(int variable, int64_t first) const {
    return (variable * total_ + first) * value_bytes;
  }

  std::unique_ptr<File> file_;
  int64_t total_ = 0;
};

}  // namespace

std::unique_ptr<ParticleFile> mpi_particle_file(const ParticleAccess& access) {
  return std::make_unique<MpiParticleFile>(access);
}

std::unique_ptr<ParticleFile> particle_file(const ParticleAccess& access) {
  return access.api == Api::hdf5 ? hdf5_particle_file(access) : mpi_particle_file(access);
}

void check_particles_fit(const char* option, const ParticleAccess& access, int64_t particles,
                         Mistakes* mistakes) {
  check_file_size(option, {particles, particle_bytes, job().ranks}, mistakes);
  check_call(option, access.api, std::min(particles, most_particles) * value_bytes, mistakes);
}

void particle_arguments(Arguments* arguments, ParticleAccess* access) {
  arguments
      ->api("HDF5 or MPIIO; default HDF5 where it was built in", {Api::hdf5, Api::mpiio},
            &access->api)
      .as("api");
  arguments
      ->flag("--independent", "independent transfers; default collective", &access->collective,
             false)
      .as_not("collective");
}

}  // namespace kernels
