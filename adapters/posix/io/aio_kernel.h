// Asynchronous I/O of libaio (io_submit and the like).
#pragma once

namespace posix::aio_kernel {

// Forgets, in the child of a fork, the parent's contexts, and releases what its threads held.
void after_fork();

}  // namespace posix::aio_kernel
