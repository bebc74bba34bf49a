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

constexpr const char* set_name = "palm";

class CairnPool : public BackEnd {
 public:
  CairnPool(Model& model, cairn_pool* pool, bool is_fresh)
      : checkpoint_(set_name, MPI_Comm_c2f(MPI_COMM_WORLD), options(pool, is_fresh)) {
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
  [[nodiscard]] std::string file(int) const override { return ""; }

 private:
  static cairn::Options options(cairn_pool* pool, bool is_fresh) {
    cairn::Options options;
    options.flags = is_fresh ? CAIRN_CHECKPOINT_FRESH : 0;
    options.pool = pool;
    options.keep = 1;
    return options;
  }
  cairn::Checkpoint checkpoint_;
  int64_t version_ = CAIRN_CHECKPOINT_LATEST;
};

}  // namespace

std::unique_ptr<BackEnd> versions(Model& model, cairn_pool* pool, bool is_fresh) {
  try {
    return std::make_unique<CairnPool>(model, pool, is_fresh);
  } catch (const cairn::Error& error) {
    stop(error.what());
  }
}

void drop_versions() {
  cairn_checkpoint_options options = {};
  options.struct_size = sizeof options;
  options.flags = CAIRN_CHECKPOINT_LOOK;
  cairn_checkpoint* set = nullptr;
  if (cairn_checkpoint_init(set_name, CAIRN_NO_COMMUNICATOR, &options, &set) < 0 ||
      cairn_checkpoint_drop(set, 0, CAIRN_DROP_SET | CAIRN_DROP_LAST) < 0 ||
      cairn_checkpoint_finalize(set) < 0)
    stop(std::string("dropping the versions: ") + cairn_last_error());
}

}  // namespace palm
