// What this adapter has the engine do when the process attaches and forks (engine/hooks.h), in that
// order.
#include "engine/hooks.h"

#include "posix/core/after_fork.h"
#include "posix/core/calls.h"
#include "posix/credentials/caller.h"
#include "posix/credentials/pool_owner.h"
#include "posix/exec/fork.h"
#include "posix/fd/mappings.h"
#include "posix/fd/size_limit.h"
#include "posix/fd/table.h"
#include "posix/io/open.h"
#include "posix/job/job_files.h"

namespace engine::hooks {

using namespace posix;  // what follows is a list of its functions

const Step attaching[] = {read_umask, size_limit::read, nullptr};

const Step attached[] = {pool_owner::attached, caller::tell_pool, nullptr};

const Step before_fork[] = {share_locks, mappings::hold, pool_owner::forking, nullptr};

const Step in_parent[] = {mappings::release, nullptr};

const Step in_child[] = {
    mappings::release,
    table::after_fork,
    job_files::after_fork,
    posix::after_fork::free_streams,
    posix::after_fork::free_locks,
    posix::after_fork::free_trees,
    posix::after_fork::free_shells,
    posix::after_fork::free_limit,
    posix::after_fork::free_requests,
    posix::after_fork::free_libraries,
    posix::after_fork::free_pool_owner,
    nullptr,
};

ssize_t (*const write_stderr)(int fd, const void* bytes, size_t size) = serve::write;

}  // namespace engine::hooks
