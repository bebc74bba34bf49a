/* Files that several nodes write.
 *
 * For adapters that carry messages between nodes, not for programs: this header may change between
 * releases, and an adapter is built with the release that it works with.
 *
 * In a job that spans nodes, each node's pool holds a PART of a file: the bytes that the node's
 * processes wrote. The SHARE MAP says which node holds which bytes. The ranks agree on it at a
 * COMMIT. With the file's size and attributes it is kept in a small record below the covered
 * directory (`DIR/.cairn/PATH.record`), which all nodes share. Bytes that no rank wrote come from
 * the file of that name in DIR, if there is one. Writes are local. A read copies what is on this
 * node and asks the other nodes for the rest, for all pieces of a call together.
 *
 * This interface does not know how processes talk to each other. A caller that has a message layer
 * (an MPI) fills in the two tables of functions below. Conventions as in cairn/cairn.h.
 * "Collective": all processes of the group call the function in the same order; all get the same
 * result.
 *
 * Guarantees
 *  - A process sees its own writes immediately. Others see them after a commit of the writer and a
 *    following commit or open of theirs; with cairn_shared_set_immediate, as soon as the write
 *    returns.
 *  - A commit is there for all processes or for none, whenever processes are killed.
 *  - Bytes that cannot be reached are an error that names the node, never zeros.
 */
#ifndef CAIRN_ADAPTER_SHARED_H
#define CAIRN_ADAPTER_SHARED_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_job cairn_job;
typedef struct cairn_shared cairn_shared;

/* A node as the job sees it: a pool. Processes with the same uuid are on one node. */
typedef struct cairn_node {
  uint8_t uuid[16]; /* of its pool */
  char host[64];
  char pool[256]; /* path of the pool, for messages */
} cairn_node;
CAIRN_API int cairn_node_describe(cairn_pool* pool, cairn_node* node);

/* One request to the server of a node, and where its reply goes. */
typedef struct cairn_question {
  uint32_t node; /* index into the job's nodes */
  const void* request;
  size_t size;
  void* reply;
  size_t capacity;
  size_t got; /* [out] bytes of the reply */
} cairn_question;

/* Sends all questions and waits for all replies. Returns 0 or a negative errno; then no question
 * was answered. */
typedef int (*cairn_ask)(void* context, cairn_question* questions, size_t count);

/* The library calls this repeatedly while a call waits for a process of the job that is stopped
 * (SIGSTOP). `waited_ms`: how long the call has waited; the time in which this process was stopped
 * itself counts little. `path`: what the call is about. `whom`: the process that the call waits
 * for. The function may end the job. */
typedef void (*cairn_still_waiting)(void* context, uint64_t waited_ms, const char* path,
                                    const char* whom);

/* Makes this process part of a job on nodes[0..count); its own node is nodes[node]. `nodes` is not
 * copied and must stay as it is until cairn_job_close, so that all processes of a host can share
 * one array. `directory`: the real path of the covered directory. `ask` may be NULL if count is 1.
 * Then only cairn_shared_exists, _make_plain and _remove can be called. `waiting` may be NULL: then
 * calls wait without end. */
CAIRN_API int cairn_job_open(cairn_pool* pool, const char* directory, const cairn_node* nodes,
                             uint32_t count, uint32_t node, cairn_ask ask,
                             cairn_still_waiting waiting, void* context, cairn_job** job);
CAIRN_API void cairn_job_close(cairn_job* job);
/* Removes this node's parts of files that no longer exist. Call it in one process of each node,
 * when the job starts. */
CAIRN_API int cairn_job_clean(cairn_job* job);
/* These calls create on all nodes the directories, symbolic links, FIFOs and sockets that only some
 * nodes have when the job begins. Such names come from an earlier job that was not drained, or from
 * earlier programs. One process of each node makes both calls. cairn_job_gather_names goes through
 * this node's names, before the node serves. It returns a number, not negative, which is the same
 * on nodes that have the same names. If the numbers differ, each node then calls
 * cairn_job_tell_names, while all nodes serve. No process uses names before all nodes have returned
 * from it. -EEXIST: a node has something else under one of the names (cairn_last_error says which);
 * all other names are made. */
CAIRN_API int64_t cairn_job_gather_names(cairn_job* job);
CAIRN_API int cairn_job_tell_names(cairn_job* job);
/* Answers a request of another node, or of this one: the server's side. On each node one process
 * does this, always the same. Fills in `reply` (capacity: cairn_job_reply_capacity()) and returns
 * its size. Never fails: an error is an answer, too. May run in a thread of its own beside
 * everything else. */
CAIRN_API size_t cairn_job_serve(cairn_job* job, const void* request, size_t size, void* reply);
CAIRN_API size_t cairn_job_reply_capacity(void);
/* The server calls `removed` for each FIFO or socket of this node that has lost its last name to
 * another node's process, which removed or replaced it. The caller can then release what the system
 * was given for it. NULL: no call. */
typedef void (*cairn_special_removed)(cairn_ino ino, uint64_t generation, uint32_t mode);
CAIRN_API void cairn_job_on_special_removed(cairn_job* job, cairn_special_removed removed);
CAIRN_API size_t cairn_job_request_capacity(void);

/* The processes that have a file open together. The functions get `context`. */
typedef struct cairn_group {
  void* context;
  uint32_t rank;
  uint32_t ranks;
  /* Gathers the bytes of all ranks at rank 0. There, *all (to be freed with free()) holds them in
   * order of rank, and sizes[i] is the number of rank i's bytes. On other ranks, *all is NULL. */
  int (*gather)(void* context, const void* bytes, size_t size, void** all, size_t* sizes);
  /* Sends rank 0's bytes to all ranks. */
  int (*broadcast)(void* context, void* bytes, size_t size);
} cairn_group;

/* Says whether a shared file of this name exists: 1, 0 or a negative errno. `path` is relative to
 * the covered directory, without symbolic links, "." and "..". */
CAIRN_API int cairn_shared_exists(cairn_job* job, const char* path);

/* Opens a shared file. Collective; path, flags (access mode, O_CREAT, O_EXCL) and mode count on
 * rank 0. `local`: the file that rank 0's node has under the name in its pool and nowhere else
 * (written through other calls), or NULL. Its bytes become the file's.
 * Errors: -ENOENT, -EEXIST, -EACCES, -EISDIR, -ENOSPC, -ENAMETOOLONG, ... */
CAIRN_API int cairn_shared_open(cairn_job* job, const cairn_group* group, const char* path,
                                int flags, uint32_t mode, cairn_file* local, cairn_shared** shared);
/* Closes a shared file. Collective; commits. The handle is gone whatever the result. */
CAIRN_API int cairn_shared_close(cairn_shared* shared);
/* Commits. Collective. What the group wrote is then durable, as far as the pools are, and visible
 * to whoever opens or commits later. What others committed is visible here. */
CAIRN_API int cairn_shared_commit(cairn_shared* shared);

/* As cairn_pwrite, but writes all bytes or fails. -ENOSPC is also the result of the group's next
 * commit. */
CAIRN_API ssize_t cairn_shared_pwrite(cairn_shared* shared, const void* buffer, size_t size,
                                      uint64_t offset);
/* Writes all pieces or fails, as cairn_shared_pwrite. Where a write takes a message
 * (cairn_shared_set_immediate), all pieces take one. */
CAIRN_API int64_t cairn_shared_write(cairn_shared* shared, const cairn_piece* pieces, size_t count);
/* Reads all pieces, with one request to each node that holds some of them. Returns the number of
 * bytes read. A piece comes short only at the end of file. */
CAIRN_API int64_t cairn_shared_read(cairn_shared* shared, const cairn_piece* pieces, size_t count);
/* Returns the size, as this process sees it. */
CAIRN_API int cairn_shared_size(cairn_shared* shared, uint64_t* size);
/* Collective; commits. */
CAIRN_API int cairn_shared_truncate(cairn_shared* shared, uint64_t size);
/* Makes writes visible immediately, as a hint does. Collective; commits. From now on, the group's
 * other processes see a write when it returns, at the price of a message for each call. */
CAIRN_API int cairn_shared_set_immediate(cairn_shared* shared, int on);
/* Lock and unlock the group's mutex, for atomic mode. Not recursive. */
CAIRN_API int cairn_shared_lock(cairn_shared* shared);
CAIRN_API int cairn_shared_unlock(cairn_shared* shared);
/* Add to and store words that the group shares (which: 0..3); they are 0 at first. */
CAIRN_API int cairn_shared_fetch_add(cairn_shared* shared, uint32_t which, int64_t value,
                                     int64_t* before);
CAIRN_API int cairn_shared_store(cairn_shared* shared, uint32_t which, int64_t value);

/* ---- by name, by one process --------------------------------------------------------------------
 * For calls that know nothing of groups. They act on the shared file of the name. If there is none,
 * they act on the ordinary file of that name in another node's pool, written there through other
 * calls. Each returns -ENOENT if there is neither. If the name is not a shared file's, the call
 * asks all nodes. None checks permissions. */

/* stat(2) of a shared file, as of its last commit, and of an ordinary file. The inode number is not
 * one of a pool's; for a shared file it is the same on all nodes. */
CAIRN_API int cairn_shared_stat(cairn_job* job, const char* path, cairn_stat* st);
CAIRN_API int cairn_shared_stat_ordinary(cairn_job* job, const char* path, cairn_stat* st);
/* Opens a file for reading as an ordinary file. A shared file shows what the last commit left. An
 * ordinary file shows its bytes as they are when they are read, up to its size at the open. It
 * stays on its node as long as it is open, even if its name is removed. Bytes of other nodes are
 * fetched when they are read, and all of them when the file is mapped (-ENOSPC). -EIO: another
 * process reads it, cairn_job_close was called, or others have removed or truncated the bytes
 * since. */
CAIRN_API int cairn_shared_open_reader(cairn_job* job, const char* path, int flags,
                                       cairn_file** file);
/* Opens an ordinary file of another node for writing on its node, for cases in which
 * cairn_shared_make_plain returns -EBUSY. Each read and write is a message to that node. When it
 * returns, all processes see it. flags: as for open(2), O_TRUNC and O_APPEND too. The file cannot
 * be mapped (-ENODEV), locked (-ENOLCK) or preallocated (-EOPNOTSUPP). It stays on its node as
 * long as it is open, even if its name is removed. In other processes and after cairn_job_close:
 * -EIO. */
CAIRN_API int cairn_shared_open_writer(cairn_job* job, const char* path, int flags,
                                       cairn_file** file);
/* Makes the file an ordinary file of the covered directory, in this node's pool, with its contents;
 * if `empty`, with none. -EBUSY: the file is open, or it is an ordinary file with other names or
 * extended attributes. -EIO (with the node's name): bytes of it are on a node that is not part of
 * the job; -ENOSPC, ... */
CAIRN_API int cairn_shared_make_plain(cairn_job* job, const char* path, int empty);
/* Moves an ordinary file into this node's pool, as cairn_shared_make_plain does; not for shared
 * files. */
CAIRN_API int cairn_shared_fetch(cairn_job* job, const char* path);
/* Sets the size. A process that has the file open sees it at its next commit. */
CAIRN_API int cairn_shared_set_size(cairn_job* job, const char* path, uint64_t size);
/* Sets mode, owner and times; UINT32_MAX and CAIRN_TIME_OMIT leave a value as it is. A process that
 * has the file open sees the change at its next commit. A shared file's atime is its mtime. */
CAIRN_API int cairn_shared_set_attributes(cairn_job* job, const char* path, uint32_t mode,
                                          uint32_t uid, uint32_t gid, int64_t atime_ns,
                                          int64_t mtime_ns);
/* Renames a file, and replaces a file of the new name that some or all other nodes have. flags: 0
 * or RENAME_NOREPLACE (1); -EEXIST then if any node has the new name. -EBUSY: the file is open.
 * -EXDEV: bytes come from the file of the old name in the covered directory. */
CAIRN_API int cairn_shared_rename(cairn_job* job, const char* from, const char* to, unsigned flags);
/* Removes the name. This node removes its part immediately, other nodes when they are told or next
 * join a job. */
CAIRN_API int cairn_shared_remove(cairn_job* job, const char* path);
/* Removes immediately what the covered directory itself has under the name, and what other nodes'
 * pools know of it from there. Returns 1, or 0 if it did not exist. */
CAIRN_API int cairn_shared_remove_below(cairn_job* job, const char* path);
/* Calls visit(context, path) for each shared file in a directory ("": the covered one), with its
 * name. If `deep`, visits those below the directory, too, with their paths from there. If visit
 * returns nonzero, the listing stops with that result. */
typedef int (*cairn_shared_visit)(void* context, const char* path);
CAIRN_API int cairn_shared_list(cairn_job* job, const char* directory, int deep,
                                cairn_shared_visit visit, void* context);

/* Calls visit(context, name, inode number) for each ordinary file of other nodes in a directory, as
 * cairn_shared_list does. */
typedef int (*cairn_shared_visit_ordinary)(void* context, const char* name, uint64_t ino);
CAIRN_API int cairn_shared_list_ordinary(cairn_job* job, const char* directory,
                                         cairn_shared_visit_ordinary visit, void* context);

/* ---- names that all nodes have ------------------------------------------------------------------
 * Directories, symbolic links, FIFOs and sockets, which hold no bytes. When a call returns, it is
 * done in the pools of all nodes or in none. The job's calls run one after the other. The calls
 * also serve names of files in the covered directory. A process that changes such a name tells the
 * other nodes, which look for it elsewhere from then on. Paths are relative to the covered
 * directory. Errors are those of the system's calls, also for what another node's pool has under a
 * name (-EEXIST, -ENOTEMPTY). -EIO: a node does not answer. None checks permissions. */

CAIRN_API int cairn_shared_mkdir(cairn_job* job, const char* path, uint32_t mode);
CAIRN_API int cairn_shared_symlink(cairn_job* job, const char* target, const char* path);
/* Sets mode, owner and times. UINT32_MAX and CAIRN_TIME_OMIT leave a value as it is. */
CAIRN_API int cairn_shared_set_everywhere(cairn_job* job, const char* path, uint32_t mode,
                                          uint32_t uid, uint32_t gid, int64_t atime_ns,
                                          int64_t mtime_ns);
/* Sets the attributes of a FIFO, socket or symbolic link by its inode in this node's pool. On the
 * other nodes, the call sets those of what has any of its names. -ENOENT: it has no name. */
CAIRN_API int cairn_shared_set_inode_everywhere(cairn_job* job, cairn_ino ino, uint64_t generation,
                                                uint32_t mode, uint32_t uid, uint32_t gid,
                                                int64_t atime_ns, int64_t mtime_ns);
CAIRN_API int cairn_shared_rmdir(cairn_job* job, const char* path);
/* Removes a name that is not a directory from this node's pool, and from others if they have it,
 * too. */
CAIRN_API int cairn_shared_unlink(cairn_job* job, const char* path);
/* Creates a FIFO or socket on all nodes, or an ordinary file on this one. `mode` includes the type.
 * `exclusive`: -EEXIST if any node has the name, or creates it at this moment. Otherwise the call
 * does not wait for other nodes. It first looks at this node (-EEXIST), and gives way to a file
 * that another node creates at the same moment: -ESTALE, the file is found elsewhere now. */
CAIRN_API int cairn_shared_mknod(cairn_job* job, const char* path, uint32_t mode, int exclusive);
/* Creates a file as cairn_shared_mknod does, and opens it with these flags of open(2) (`exclusive`:
 * O_EXCL) before any other process can. */
CAIRN_API int cairn_shared_create(cairn_job* job, const char* path, int flags, uint32_t mode,
                                  cairn_file** file);
/* Gives another name to what this node's pool has and is not a directory, or the first name to a
 * file that was created without one. A file gets the name on this node, with -EEXIST as if
 * `exclusive`; a symbolic link, FIFO or socket gets it on all nodes. -ESTALE: the inode is another
 * one by now. */
CAIRN_API int cairn_shared_link(cairn_job* job, cairn_ino ino, uint64_t generation,
                                const char* path);
/* Claims this node's file before a process writes it: what other nodes know of it from the covered
 * directory is void. -EBUSY: another node has changed the file, or has it open for writing.
 * -ESTALE: another node has claimed it, so it is found elsewhere now. */
CAIRN_API int cairn_shared_claim(cairn_job* job, const char* path);
/* Renames what this node's pool has. A directory takes the shared files below it along, even open
 * ones. flags: 0 or RENAME_NOREPLACE (1). -EXDEV: a directory that also exists in the covered
 * directory. If processes are killed meanwhile, the file has one of the two names on all nodes. The
 * next such call completes the rename, or else the next cairn_cover_open(), cairn_cover_join() or
 * cairn_cover_drain() on each node. */
CAIRN_API int cairn_shared_rename_name(cairn_job* job, const char* from, const char* to,
                                       unsigned flags);

/* Call this in the child of a fork: the child is not a process of the job, and cannot ask other
 * nodes. */
CAIRN_API void cairn_job_fork_child(cairn_job* job);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_ADAPTER_SHARED_H */
