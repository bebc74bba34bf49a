#include "parts/particles.h"

namespace kernels {
namespace {

constexpr float box = 64;

uint64_t mixed(uint64_t value) {  // the finalizer of splitmix64
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
  return value ^ (value >> 31);
}

// Uniform in 0 .. box, with the 24 bits that a float holds exactly.
float drawn(int variable, int64_t particle) {
  const uint64_t bits =
      mixed(static_cast<uint64_t>(particle) * 8 + static_cast<uint64_t>(variable));
  return static_cast<float>(bits >> 40) * (box / (1 << 24));
}

float real_value(const std::string& name, int variable, int64_t particle, int64_t total) {
  const double part = static_cast<double>(particle) / static_cast<double>(total);
  if (name == "z") return static_cast<float>(part * box);
  if (name == "pz") return static_cast<float>(2 * part * box);
  return drawn(variable, particle);
}

}  // namespace

const std::vector<Variable>& particle_variables() {
  static const std::vector<Variable> all = {
      {"x", Kind::real},      {"y", Kind::real},  {"z", Kind::real},  {"id1", Kind::integer},
      {"id2", Kind::integer}, {"px", Kind::real}, {"py", Kind::real}, {"pz", Kind::real}};
  return all;
}

int find_variable(const std::string& path) {
  const std::string name = path.starts_with("/Step#0/") ? path.substr(8) : path;
  for (size_t i = 0; i < particle_variables().size(); ++i)
    if (name == particle_variables()[i].name) return static_cast<int>(i);
  return -1;
}

void make_values(int variable, int64_t first, int64_t count, int64_t total, void* to) {
  const Variable& about = particle_variables()[static_cast<size_t>(variable)];
  const std::string name = about.name;
  auto* reals = static_cast<float*>(to);
  auto* integers = static_cast<int32_t*>(to);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t particle = first + i;
    if (about.kind == Kind::real)
      reals[i] = real_value(name, variable, particle, total);
    else
      integers[i] = static_cast<int32_t>(name == "id1" ? particle : 2 * particle);
  }
}

}  // namespace kernels
