// Versions in a pool, through cairn/checkpoint.hpp.
#include <mpi.h>

#include <cairn/checkpoint.hpp>

#include "back_end.h"

namespace palm {
namespace {

cairn::Array array_of(Variable& variable) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_OPAQUE;
  array.element_size = static_cast<uint64_t>(variable.element);
  array.base = variable.memory.data();
  const std::vector<int64_t> extents = variable.extents();
  array.dimensions = static_cast<uint32_t>(extents.size());
  for (size_t k = 0; k < extents.size(); ++k) array.extent[k] = extents[k];
  return cairn::Array(array);
}

class CairnPool : public BackEnd {
 public:
  explicit CairnPool(Model& model)
      : checkpoint_("palm", MPI_Comm_c2f(MPI_COMM_WORLD), cairn::Options{.keep = 1}) {
    for (Variable& variable : model.variables()) {
      if (variable.kind == Kind::replicated) {
        checkpoint_.define(variable.name, array_of(variable));
        continue;
      }
      cairn::Block block{.global = variable.global, .offset = variable.offset};
      if (variable.ghosts > 0) block.halo.assign(2, static_cast<uint16_t>(variable.ghosts));
      checkpoint_.define(variable.name, array_of(variable), block);
    }
  }
  void create(Model&, int64_t version) override {
    checkpoint_.write(version);
    version_ = version;
  }
  void restore(Model&) override { checkpoint_.read(version_); }

 private:
  cairn::Checkpoint checkpoint_;
  int64_t version_ = 0;
};

}  // namespace

std::unique_ptr<BackEnd> cairn_pool(Model& model) {
  try {
    return std::make_unique<CairnPool>(model);
  } catch (const cairn::Error& error) {
    stop(error.what());
  }
}

}  // namespace palm
