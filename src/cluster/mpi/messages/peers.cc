#include "cluster/mpi/messages/peers.h"

namespace cairn::mpi {

std::string Peers::name_of(uint32_t node) const {
  return std::string("node ") + roster.node(node).host + " (pool " + roster.node(node).pool + ")";
}

}  // namespace cairn::mpi
