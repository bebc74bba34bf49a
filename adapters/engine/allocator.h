// Memory of the engine's and of the tables': not malloc's.
//
// A handler of the program's may have interrupted malloc and open a covered file, and so may be met
// by a fork, which waits for malloc. The engine's operator new comes from here, and what the
// adapter needs for open and close.
#pragma once

#include <stddef.h>

namespace engine::memory {

void* allocate(size_t size);  // aligned to 64 bytes; nullptr: there is none
void release(void* block);
void after_fork();  // in the child

}  // namespace engine::memory
