#include "checkpoint.h"

#include <cstdio>

namespace sedov {
namespace {

int must(int result, const char* call) {
  if (result >= 0) return result;
  std::fprintf(stderr, "checkpoint: %s failed: %s\n", call, cairn_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
  return result;
}

}  // namespace

Checkpoint::Checkpoint(const std::string& name, State& state, MPI_Comm communicator,
                       cairn_pool* pool, uint32_t flags)
    : state_(state) {
  cairn_checkpoint_options options = {};
  options.struct_size = sizeof options;
  options.pool = pool;
  options.flags = flags;
  must(cairn_checkpoint_init(name.c_str(), MPI_Comm_c2f(communicator), &options, &checkpoint_),
       "init");
  for (const Variable& variable : state.variables()) define(variable);
  define_scalar("time", CAIRN_TYPE_FLOAT64, &state.clock.time);
  define_scalar("deltatime", CAIRN_TYPE_FLOAT64, &state.clock.step);
  define_scalar("dtcourant", CAIRN_TYPE_FLOAT64, &state.clock.courant_limit);
  define_scalar("dthydro", CAIRN_TYPE_FLOAT64, &state.clock.dilation_limit);
  define_scalar("cycle", CAIRN_TYPE_INT64, &state.clock.cycle);
}

Checkpoint::~Checkpoint() { must(cairn_checkpoint_finalize(checkpoint_), "finalize"); }

// A rank's part of a global array with dimensions z, y, x. Neighbours both hold the nodes of their
// common face, with the same values.
void Checkpoint::define(const Variable& variable) {
  cairn_array array = {};
  array.struct_size = sizeof array;
  array.type = CAIRN_TYPE_FLOAT64;
  array.dimensions = 3;
  array.base = variable.values->data();
  cairn_distribution block = {};
  block.struct_size = sizeof block;
  block.kind = CAIRN_BLOCK;
  block.owner = variable.is_nodal ? CAIRN_OWNER_LOWEST_RANK : 0;
  const int64_t more = variable.is_nodal ? 1 : 0;
  for (int d = 0; d < 3; ++d) {
    array.extent[2 - d] = state_.box.count[d] + more;
    block.global[2 - d] = state_.decomposition.size + more;
    block.offset[2 - d] = state_.box.first[d];
  }
  must(cairn_checkpoint_define(checkpoint_, variable.name, &array, &block, nullptr), "define");
}

void Checkpoint::define_scalar(const char* name, uint32_t type, void* at) {
  cairn_array array = {};
  array.struct_size = sizeof array;
  array.type = type;
  array.base = at;
  cairn_distribution same = {};
  same.struct_size = sizeof same;
  same.kind = CAIRN_REPLICATED;
  must(cairn_checkpoint_define(checkpoint_, name, &array, &same, nullptr), "define");
}

bool Checkpoint::read() {
  cairn_checkpoint_info info = {};
  info.struct_size = sizeof info;
  if (must(cairn_checkpoint_restart_test(checkpoint_, CAIRN_CHECKPOINT_LATEST, &info),
           "restart_test") == 0)
    return false;
  must(cairn_checkpoint_read(checkpoint_, CAIRN_CHECKPOINT_LATEST, 0, &info), "read");
  if (state_.rank == 0 && info.skipped != 0) std::printf("left out: %s\n", info.why);
  return true;
}

void Checkpoint::write() { must(cairn_checkpoint_write(checkpoint_, state_.clock.cycle), "write"); }

}  // namespace sedov
