// The functions that the engine calls when the process attaches and forks (engine/hooks.h), in this
// order.
#include "engine/hooks.h"

#include "posix/credentials/caller.h"
#include "posix/credentials/pool_owner.h"
#include "posix/exec/fork.h"
#include "posix/exec/shell.h"
#include "posix/fd/descriptor.h"
#include "posix/fd/mappings.h"
#include "posix/fd/size_limit.h"
#include "posix/fd/table.h"
#include "posix/io/aio_kernel.h"
#include "posix/io/calls.h"
#include "posix/io/locks.h"
#include "posix/io/open.h"
#include "posix/job/job_files.h"
#include "posix/libc/fts.h"
#include "posix/libc/stdio.h"
#include "posix/loader/loaded_copies.h"

namespace engine::hooks {

using namespace posix;  // the lists below name its functions

const Step attaching[] = {read_umask, size_limit::read, nullptr};

const Step attached[] = {pool_owner::attached, caller::tell_pool, nullptr};

const Step before_fork[] = {share_locks, mappings::hold, pool_owner::forking, nullptr};

const Step in_parent[] = {mappings::release, nullptr};

// The child releases mutexes that another thread of the parent may have held at the fork. What such
// a mutex guards is whole at every instant.
const Step in_child[] = {
    mappings::release,      table::after_fork,  job_files::after_fork,  streams::after_fork,
    locks::after_fork,      fts::after_fork,    shell::after_fork,      descriptor::after_fork,
    aio_kernel::after_fork, loaded::after_fork, pool_owner::after_fork, nullptr,
};

ssize_t (*const write_stderr)(int fd, const void* bytes, size_t size) = serve::write;

}  // namespace engine::hooks
