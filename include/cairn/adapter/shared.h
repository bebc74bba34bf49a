/* Files that several nodes write.
 *
 * For adapters that carry messages between nodes, not for programs: this header may change between
 * releases, and an adapter is built with the release that it works with.
 *
 * In a job that spans nodes, each node's pool holds a PART of a file: the bytes that the node's processes wrote.
 * Which node holds which bytes (the SHARE MAP) is agreed at a COMMIT and stands, with the file's size and
 * attributes, in a small record below the covered directory (`DIR/.cairn/PATH.record`), which all nodes share. Bytes that
 * nobody wrote come from the file of that name in DIR, if there is one. Writes are local; reads copy
 * what is here and ask the other nodes for the rest, all pieces of a call at once.
 *
 * Nothing here knows how processes talk to each other: who has a message layer (an MPI) fills in the two tables
 * of functions below. Conventions as in cairn/cairn.h. "Collective": called by all processes of the
 * group in the same order; all return the same result.
 *
 * Guarantees
 *  - A process sees its own writes at once. Others see them after a commit of the writer and a following commit
 *    or open of theirs; with cairn_shared_set_immediate as soon as the write returns.
 *  - A commit is there for everyone or for nobody, whenever processes are killed.
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

/* Sends all questions and waits for all replies. 0 or a negative errno (nothing was answered then). */
typedef int (*cairn_ask)(void* context, cairn_question* questions, size_t count);

/* Called over and over while a call waits for a process of the job that stands still (SIGSTOP): for how long it has, of which the time in
 * which this process stood still itself counts little; the path that the call is about; and for whom it waits. It may end the job. */
typedef void (*cairn_still_waiting)(void* context, uint64_t waited_ms, const char* path,
                                    const char* whom);

/* Makes this process part of a job on nodes[0..count), itself on nodes[node]. `nodes` is not copied and stays as it is until
 * cairn_job_close, so that all processes of a host can share one. `directory`: the real path of the covered
 * directory. `ask` may be NULL if count is 1: then only cairn_shared_exists, _make_plain
 * and _remove can be called. `waiting` may be NULL: then it waits for ever. */
CAIRN_API int cairn_job_open(cairn_pool* pool, const char* directory, const cairn_node* nodes,
                             uint32_t count, uint32_t node, cairn_ask ask,
                             cairn_still_waiting waiting, void* context, cairn_job** job);
CAIRN_API void cairn_job_close(cairn_job* job);
/* Removes this node's parts of files that are gone. For one process of each node, when the job starts. */
CAIRN_API int cairn_job_clean(cairn_job* job);
/* Directories, symbolic links, FIFOs and sockets that only some nodes have when the job begins, of an earlier one that was not drained or made
 * by programs before, are made on the others. Both calls are for one process of each node. The first one goes through what this node has, before it serves,
 * and gives a number for it, not negative, the same on nodes that have the same. Where they are not all the same, each then makes the
 * second call, while all nodes serve, and nobody uses names before all have done so. -EEXIST: a node has something else under one of the names
 * (cairn_last_error says which); all others are made. */
CAIRN_API int64_t cairn_job_gather_names(cairn_job* job);
CAIRN_API int cairn_job_tell_names(cairn_job* job);
/* The server's side: answers a request of another node (or of this one). One process of each node does this, always
 * the same. Fills in `reply` (capacity: cairn_job_reply_capacity()), returns its size. Never fails: an error is
 * an answer too. May run in a thread of its own beside everything else. */
CAIRN_API size_t cairn_job_serve(cairn_job* job, const void* request, size_t size, void* reply);
CAIRN_API size_t cairn_job_reply_capacity(void);
/* Who serves is told of each FIFO or socket of this node that has lost its last name because another node's process has removed or replaced it: what
 * the system was given for it can go. NULL: nobody is told. */
typedef void (*cairn_special_removed)(cairn_ino ino, uint64_t generation, uint32_t mode);
CAIRN_API void cairn_job_on_special_removed(cairn_job* job, cairn_special_removed removed);
CAIRN_API size_t cairn_job_request_capacity(void);

/* The processes that have a file open together. `context` is passed to the functions. */
typedef struct cairn_group {
  void* context;
  uint32_t rank;
  uint32_t ranks;
  /* Everybody's bytes, to rank 0: there *all (to be freed with free()) holds them in order of rank, and sizes[i]
   * says how many rank i gave. Elsewhere *all is NULL. */
  int (*gather)(void* context, const void* bytes, size_t size, void** all, size_t* sizes);
  /* Rank 0's bytes, to all. */
  int (*broadcast)(void* context, void* bytes, size_t size);
} cairn_group;

/* Is there a shared file of this name? `path` is relative to the covered directory, without symbolic
 * links, "." and "..". 1, 0 or a negative errno. */
CAIRN_API int cairn_shared_exists(cairn_job* job, const char* path);

/* Collective; path, flags (access mode, O_CREAT, O_EXCL) and mode count on rank 0. `local`: what rank 0's node has
 * under the name in its pool and nowhere else (written through other calls), or NULL; its bytes become the file's.
 * Errors: -ENOENT, -EEXIST, -EACCES, -EISDIR, -ENOSPC, -ENAMETOOLONG, ... */
CAIRN_API int cairn_shared_open(cairn_job* job, const cairn_group* group, const char* path,
                                int flags, uint32_t mode, cairn_file* local, cairn_shared** shared);
/* Collective; commits. The handle is gone whatever the result. */
CAIRN_API int cairn_shared_close(cairn_shared* shared);
/* Collective: what the group wrote is durable (as far as the pools are) and seen by whoever opens or commits
 * later; what others committed is seen here. */
CAIRN_API int cairn_shared_commit(cairn_shared* shared);

/* As cairn_pwrite, but all of it or an error; -ENOSPC is also the result of the group's next commit. */
CAIRN_API ssize_t cairn_shared_pwrite(cairn_shared* shared, const void* buffer, size_t size,
                                      uint64_t offset);
/* Writes all pieces, or fails: as cairn_shared_pwrite, with one message where it takes one (cairn_shared_set_immediate). */
CAIRN_API int64_t cairn_shared_write(cairn_shared* shared, const cairn_piece* pieces, size_t count);
/* Reads all pieces with one request to each node that holds some of them. Returns how many bytes were read: pieces, and
 * the last of them, may be cut short at the end of file only. */
CAIRN_API int64_t cairn_shared_read(cairn_shared* shared, const cairn_piece* pieces, size_t count);
/* The size, as this process sees it. */
CAIRN_API int cairn_shared_size(cairn_shared* shared, uint64_t* size);
/* Collective; commits. */
CAIRN_API int cairn_shared_truncate(cairn_shared* shared, uint64_t size);
/* Collective, as a hint is: from now on a write is seen by the group's other processes when it returns, at the price of a
 * message for each call. Commits. */
CAIRN_API int cairn_shared_set_immediate(cairn_shared* shared, int on);
/* Mutual exclusion in the group, for atomic mode. Not recursive. */
CAIRN_API int cairn_shared_lock(cairn_shared* shared);
CAIRN_API int cairn_shared_unlock(cairn_shared* shared);
/* Words that the group shares (which: 0..3), 0 at first. */
CAIRN_API int cairn_shared_fetch_add(cairn_shared* shared, uint32_t which, int64_t value,
                                     int64_t* before);
CAIRN_API int cairn_shared_store(cairn_shared* shared, uint32_t which, int64_t value);

/* ---- by name, by one process --------------------------------------------------------------------
 * For calls that know nothing of groups. They act on the shared file of the name or, where there is none, on the ordinary file that
 * another node's pool has under it: written there through other calls. Each gives -ENOENT if there is neither. A name that is no shared
 * file's is asked for on all nodes. None looks at permissions. */

/* What stat(2) shows of a shared file, as of its last commit, and of an ordinary one. The inode number, of a shared file the same on all
 * nodes, is none of a pool's. */
CAIRN_API int cairn_shared_stat(cairn_job* job, const char* path, cairn_stat* st);
CAIRN_API int cairn_shared_stat_ordinary(cairn_job* job, const char* path, cairn_stat* st);
/* Opens it for reading as an ordinary file, which shows what the last commit left (an ordinary file's bytes as they are when they
 * are read, up to the size that it has now; it stays there as long as it is open, also if its name is removed). Bytes of other nodes are fetched when they are
 * read, and all of them when it is mapped (-ENOSPC). Read by another process, or after cairn_job_close: -EIO; likewise what others
 * have removed or cut off since. */
CAIRN_API int cairn_shared_open_reader(cairn_job* job, const char* path, int flags,
                                       cairn_file** file);
/* Opens an ordinary file of another node for writing where it lies, as is done where cairn_shared_make_plain says -EBUSY: each read
 * and write is a message to its node, and what returned is there for all. flags: as for open(2), O_TRUNC and O_APPEND too. It cannot
 * be mapped (-ENODEV), locked (-ENOLCK), nor preallocated (-EOPNOTSUPP). As long as it is open, it stays on that
 * node, also if its name is removed. In other processes and after cairn_job_close: -EIO. */
CAIRN_API int cairn_shared_open_writer(cairn_job* job, const char* path, int flags,
                                       cairn_file** file);
/* The file becomes an ordinary file of the covered directory, in this node's pool, with the contents that it has; if `empty`,
 * with none. -EBUSY: it is open, or an ordinary one with other names or extended attributes; -EIO (with the
 * node's name): bytes of it lie on a node that is none of the job's; -ENOSPC, ... */
CAIRN_API int cairn_shared_make_plain(cairn_job* job, const char* path, int empty);
/* The same for ordinary files only. */
CAIRN_API int cairn_shared_fetch(cairn_job* job, const char* path);
/* Who has it open sees the new size with his next commit. */
CAIRN_API int cairn_shared_set_size(cairn_job* job, const char* path, uint64_t size);
/* UINT32_MAX, CAIRN_TIME_OMIT: as it is. Who has it open sees it with his next commit. A shared file's atime is its mtime. */
CAIRN_API int cairn_shared_set_attributes(cairn_job* job, const char* path, uint32_t mode,
                                          uint32_t uid, uint32_t gid, int64_t atime_ns,
                                          int64_t mtime_ns);
/* Replaces a file of the new name that other nodes have, or all; flags: 0 or RENAME_NOREPLACE (1), -EEXIST if any has it. -EBUSY: it is
 * open; -EXDEV: bytes come from the file of the old name in the covered directory. */
CAIRN_API int cairn_shared_rename(cairn_job* job, const char* from, const char* to, unsigned flags);
/* Removes the name; the parts follow: here at once, on other nodes when they are told or next join a job. */
CAIRN_API int cairn_shared_remove(cairn_job* job, const char* path);
/* Removes at once what the covered directory itself has under the name, and what other nodes' pools know of it from there. 1, or 0: it was not
 * there. */
CAIRN_API int cairn_shared_remove_below(cairn_job* job, const char* path);
/* Calls visit(context, path) for each shared file in a directory ("": the covered one), with its name, and if `deep` also for those
 * below, with their paths from there; until that returns nonzero, which is the result then. */
typedef int (*cairn_shared_visit)(void* context, const char* path);
CAIRN_API int cairn_shared_list(cairn_job* job, const char* directory, int deep,
                                cairn_shared_visit visit, void* context);

/* Calls visit(context, name, inode number) for each ordinary file of other nodes in a directory, as cairn_shared_list. */
typedef int (*cairn_shared_visit_ordinary)(void* context, const char* name, uint64_t ino);
CAIRN_API int cairn_shared_list_ordinary(cairn_job* job, const char* directory,
                                         cairn_shared_visit_ordinary visit, void* context);

/* ---- names that all nodes have -------------------------------------------------------------------
 * Directories, symbolic links, FIFOs and sockets, which hold no bytes: each call is done in the pools of all nodes when it returns, or in
 * none, and one call of the job comes after the other. And the names of files in the covered directory: who changes one lets the others know, which
 * look for it elsewhere from then on. Paths are relative to the covered directory. Errors as those of the system's calls, also for what
 * another node's pool has under a name (-EEXIST, -ENOTEMPTY); -EIO: a node does not answer. None looks at permissions. */

CAIRN_API int cairn_shared_mkdir(cairn_job* job, const char* path, uint32_t mode);
CAIRN_API int cairn_shared_symlink(cairn_job* job, const char* target, const char* path);
/* Mode, owner and times. UINT32_MAX, CAIRN_TIME_OMIT: as it is. */
CAIRN_API int cairn_shared_set_everywhere(cairn_job* job, const char* path, uint32_t mode,
                                          uint32_t uid, uint32_t gid, int64_t atime_ns,
                                          int64_t mtime_ns);
/* The same of a FIFO, socket or symbolic link by its inode in this node's pool: on the other nodes what has any of its names. -ENOENT: it has
 * none. */
CAIRN_API int cairn_shared_set_inode_everywhere(cairn_job* job, cairn_ino ino, uint64_t generation,
                                                uint32_t mode, uint32_t uid, uint32_t gid,
                                                int64_t atime_ns, int64_t mtime_ns);
CAIRN_API int cairn_shared_rmdir(cairn_job* job, const char* path);
/* Removes what is no directory from this node's pool, and on others if they have the name too. */
CAIRN_API int cairn_shared_unlink(cairn_job* job, const char* path);
/* `mode` with the type. Makes a FIFO or socket on all nodes, or an ordinary file on this one. `exclusive`: -EEXIST if any node has one of the name, or makes one in this moment. Else the
 * call does not wait for others, sees first what this node has (-EEXIST), and gives way to one that another node has made in the same
 * moment: -ESTALE, it is found elsewhere now. */
CAIRN_API int cairn_shared_mknod(cairn_job* job, const char* path, uint32_t mode, int exclusive);
/* The same, and opens it with these flags of open(2) (`exclusive`: O_EXCL) before anybody else can. */
CAIRN_API int cairn_shared_create(cairn_job* job, const char* path, int flags, uint32_t mode,
                                  cairn_file** file);
/* A further name of what this node's pool has and is no directory, or the first one of a file that was made without. Of a file on this
 * node, with -EEXIST as if `exclusive`; of a symbolic link, FIFO or socket on all. -ESTALE: the inode is another one by now. */
CAIRN_API int cairn_shared_link(cairn_job* job, cairn_ino ino, uint64_t generation,
                                const char* path);
/* Before this node's file is written: what others know of it from the covered directory is void. -EBUSY: another node has changed
 * it, or has it open for writing; -ESTALE: another node has claimed it, so it is found elsewhere now. */
CAIRN_API int cairn_shared_claim(cairn_job* job, const char* path);
/* Renames what this node's pool has; a directory with the shared files below it, also those that are open. flags: 0 or RENAME_NOREPLACE (1).
 * -EXDEV: a directory that lies in the covered directory too. Whoever is killed meanwhile, it has one of the two names on all nodes: the
 * next such call finishes it, or else the next cairn_cover_open(), cairn_cover_join() or cairn_cover_drain() on each node. */
CAIRN_API int cairn_shared_rename_name(cairn_job* job, const char* from, const char* to,
                                       unsigned flags);

/* In the child of a fork: it is no process of the job, and can ask nobody. */
CAIRN_API void cairn_job_fork_child(cairn_job* job);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_ADAPTER_SHARED_H */
