// Undo: a backend that can be rolled back. Recovery runs on a crash image, and is then undone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "persist/core/backend.h"

namespace cairn::persist {

// The old contents of everything stored since the last rollback.
class UndoLog {
 public:
  void save(uint8_t* at, size_t size);
  // Restores all, newest first.
  void rollback();
  [[nodiscard]] bool empty() const { return entries_.empty(); }

 private:
  struct Entry {
    uint8_t* at;
    size_t size;
    size_t bytes;  // where the old contents begin in bytes_
  };
  std::vector<Entry> entries_;
  std::vector<uint8_t> bytes_;
};

// The backend; its state is an UndoLog, and its flushes and fences do nothing. For one thread.
extern const Backend undo_backend;

}  // namespace cairn::persist
