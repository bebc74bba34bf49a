// In the child of a fork: mutexes that are held for a moment, and that another thread of the parent
// may have held in that one, are free. What they guard is whole at every instant.
#pragma once

namespace posix::after_fork {

void free_streams();
void free_locks();
void free_trees();
void free_shells();
void free_limit();
void free_requests();
void free_libraries();
void free_pool_owner();

}  // namespace posix::after_fork
