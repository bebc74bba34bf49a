// Messenger: how the processes of a job reach each other, as include/cairn/adapter/shared.h says it
// for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include "file/data/pieces.h"

namespace cairn::cluster {

// A node of a job, as its processes told it when they started.
struct Node {
  uint8_t pool[16];  // its uuid
  char host[64];
  char path[256];  // of the pool
};

// One request to the server of a node, and where its reply goes.
struct Question {
  uint32_t node;
  const void* request;
  size_t size;
  void* reply;
  size_t capacity;
  size_t got;  // bytes of the reply
};
// Sends all questions and waits for all replies. 0 or a negative errno.
using Ask = int (*)(void* context, Question* questions, size_t count);

// The processes that have a file open together.
struct GroupCalls {
  void* context;
  uint32_t rank;
  uint32_t ranks;
  int (*gather)(void* context, const void* bytes, size_t size, void** all, size_t* sizes);
  int (*broadcast)(void* context, void* bytes, size_t size);
};

// Bytes that are to be moved, and where to.
using Target = file::BufferPiece;

}  // namespace cairn::cluster
