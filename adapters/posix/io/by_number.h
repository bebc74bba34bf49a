// Memory calls that came by number (syscall). Whoever puts himself before the C library's
// functions, as UCX does by writing a jump over their first instructions, reaches the kernel behind
// himself by number: what is not ours goes there, not to the C library, which would lead to him
// again.
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <time.h>

struct io_event;

namespace posix::by_number {

void* mmap(void* address, size_t size, int protection, int flags, int fd, off_t offset);
int munmap(void* address, size_t size);
void* mremap(void* address, size_t size, size_t new_size, int flags, void* new_address);
int remap_file_pages(void* address, size_t size, int protection, size_t page, int flags);
int msync(void* address, size_t size, int flags);
int madvise(void* address, size_t size, int advice);

// By name the mask has no size.
int io_pgetevents(void* context, long least, long most, struct io_event* events,  // NOLINT
                  struct timespec* timeout, void* mask);

}  // namespace posix::by_number
