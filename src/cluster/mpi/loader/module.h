// Module is the table of functions that the transport of an ABI, lib/cairn/libcairn_mpi_NAME.so,
// exports. Free of MPI: libcairn calls it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/adapter/transport.h"

namespace cairn::mpi {

struct Module;

// The beginning of every cairn_transport.
struct TransportHead {
  const Module* module;
};

// The functions of cairn/adapter/transport.h. A failure of join() writes one line to `why`.
struct Module {
  size_t size;          // of this table
  const char* version;  // of the Cairn that it belongs to
  int (*join)(int communicator, const cairn_node* node, const cairn_transport_client* client,
              cairn_transport** transport, char* why, size_t why_capacity);
  int (*leave)(cairn_transport* transport);
  int (*describe)(const cairn_transport* transport, cairn_transport_info* info);
  int (*node)(const cairn_transport* transport, uint32_t number, cairn_node* node);
  int (*node_of)(const cairn_transport* transport, uint32_t rank);
  int (*ranks_of)(const cairn_transport* transport, uint32_t number, uint32_t* ranks,
                  uint32_t capacity);
  int (*ask)(cairn_transport* transport, cairn_question* questions, size_t count);
  int (*progress)(cairn_transport* transport);
  int (*meet)(cairn_transport* transport);
  int (*broadcast)(cairn_transport* transport, void* bytes, size_t size, uint32_t root);
  int (*maximum)(cairn_transport* transport, int64_t* values, uint32_t count);
  int (*gather_nodes)(cairn_transport* transport, const void* bytes, size_t size, void* all);
  int (*begin_gather)(cairn_transport* transport, uint32_t channel, const void* bytes, size_t size,
                      void* all);
  int (*test_gather)(cairn_transport* transport, uint32_t channel);
};

// Exported by each of them as `cairn_mpi_module`.
using ModuleOf = const Module* (*)();

}  // namespace cairn::mpi
