// Serves memory calls that came by number (syscall). A library that intercepts calls by writing a
// jump over the first instructions of the C library's functions, as UCX does, calls the kernel by
// number. For memory that is not ours these functions call the kernel directly: the C library's
// functions would lead back to that library.
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

// The kernel takes the mask and its size in one argument.
int io_pgetevents(void* context, long least, long most, struct io_event* events,  // NOLINT
                  struct timespec* timeout, void* mask);

}  // namespace posix::by_number
