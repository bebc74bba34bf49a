#include "parts/particle_check.h"

#include "common/job.h"

namespace kernels {

Part part_of(int rank, int64_t total) {
  const int64_t each = total / job().ranks;
  Part part{rank * each, each};
  if (rank == job().ranks - 1) part.count = total - part.first;
  return part;
}

std::vector<std::vector<char>> make_particles(const Part& part, int64_t total) {
  std::vector<std::vector<char>> all(particle_variables().size());
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].resize(static_cast<size_t>(part.count * value_bytes));
    make_values(static_cast<int>(i), part.first, part.count, total, all[i].data());
  }
  return all;
}

void write_particles(const ParticleAccess& access, const std::string& path, int64_t total) {
  const Part part = part_of(job().rank, total);
  const auto values = make_particles(part, total);
  const auto file = particle_file(access);
  file->create(path, total);
  file->begin_step();
  for (size_t i = 0; i < values.size(); ++i)
    file->write(static_cast<int>(i), values[i].data(), part.first, part.count);
  file->close();
  MPI_Barrier(MPI_COMM_WORLD);
}

Check check_particles(const ParticleAccess& access, const std::string& path, int repetition) {
  Check found;
  found.repetition = repetition;
  const auto file = particle_file(access);
  const int64_t total = file->open(path);
  const Part part = part_of((job().rank + 1) % job().ranks, total);
  std::vector<char> expected(static_cast<size_t>(part.count * value_bytes));
  for (size_t i = 0; i < particle_variables().size(); ++i) {
    std::vector<char> got(expected.size());
    make_values(static_cast<int>(i), part.first, part.count, total, expected.data());
    file->read(static_cast<int>(i), got.data(), part.first, part.count);
    found.compare(expected.data(), got.data(), static_cast<int64_t>(got.size()),
                  path + ": " + particle_variables()[i].name, part.first * value_bytes);
  }
  file->close();
  found.gather();
  return found;
}

}  // namespace kernels
