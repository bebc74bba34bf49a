// Allocates memory for the engine and for the adapters' tables, apart from malloc.
//
// A signal handler that interrupted malloc may open a covered file, and a fork waits for malloc. So
// the engine's operator new, and the adapter's code for open and close, use this memory.
#pragma once

#include <stddef.h>

namespace engine::memory {

void* allocate(size_t size);  // aligned to 64 bytes; null: memory is out
void release(void* block);
void after_fork();  // call it in the child of a fork

}  // namespace engine::memory
