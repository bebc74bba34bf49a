/* Cairn: files at memory speed on the node that runs the job. The C API.
 *
 * Conventions
 *  1. A function that can fail returns 0 or a count on success, and a NEGATIVE errno value on
 *     failure (-ENOSPC, -ENOENT, ...). It never sets errno. cairn_last_error() then returns, for
 *     the calling thread, one line that names path, offset and cause.
 *  2. Handles (cairn_pool, cairn_file) are opaque and belong to the process that made them. All
 *     threads of the process may use them concurrently. After fork(), the child may use its handles
 *     once cairn_fork_child() has run (see "Life of a process").
 *  3. Paths are byte strings without encoding. They are relative to a directory given by inode
 *     number (CAIRN_ROOT is the pool's root). A path with a leading '/' starts at the root, too.
 *     Names hold at most 255 bytes, paths 4095.
 *  4. Offsets and sizes are bytes. Times are nanoseconds since the epoch (UTC). Modes, open flags
 *     and whence are those of <fcntl.h>, <sys/stat.h> and <unistd.h>.
 *  5. The library never keeps [in] arguments after return, and writes [out] arguments on success
 *     only. NULL in the place of bytes, a path or a name returns -EFAULT, or faults as any other
 *     wrong address does. Flags and options that a call does not know return -EINVAL. Unknown flags
 *     of open(2) have no effect.
 *
 * Guarantees, unless a function says otherwise
 *  - When a call returns, every process of the node sees what it wrote, and the data outlive any
 *    process. For what survives power loss, see cairn_fsync().
 *  - If a process is killed inside a call, a metadata call is either done or not done. A write may
 *    be partly done, only inside its own byte range. No lock stays held, and no other process
 *    notices.
 *  - Reads and overwrites of mapped bytes take no lock. They make a system call only where the
 *    process touches memory for the first time, or where other processes have just grown the pool.
 *    In a pool in a plain file on a disk, writes of 2 KiB and more also make one.
 *  - Reads and overwrites of mapped bytes are async-signal-safe: pread, pwrite, their vector forms,
 *    read, write. In a pool in a plain file on a disk, writes are safe only if the handler has not
 *    interrupted a call on that pool.
 *  - Concurrent overlapping writes may mix by bytes; O_APPEND writers never overlap.
 */
#ifndef CAIRN_CAIRN_H
#define CAIRN_CAIRN_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_API __attribute__((visibility("default")))

typedef struct cairn_pool cairn_pool;
typedef struct cairn_file cairn_file;
typedef uint64_t cairn_ino;

#define CAIRN_ROOT ((cairn_ino)1)

/* Returns the detail text of the calling thread's last failure: path, offset, cause. Never NULL. */
CAIRN_API const char* cairn_last_error(void);
/* Returns the version: "0.2.0", or "0.3.0-dev" between releases. */
CAIRN_API const char* cairn_version(void);

/* ---- pools ---------------------------------------------------------------------------------- */

enum cairn_durability {
  CAIRN_DURABILITY_FSYNC = 1, /* writes survive power loss after fsync (the default) */
  CAIRN_DURABILITY_WRITE = 2  /* each write survives power loss when it returns */
};

typedef struct cairn_pool_options {
  uint32_t struct_size; /* sizeof(cairn_pool_options), for later versions */
  uint32_t lanes;       /* most concurrent processes, 0: one for each 256 KiB, 64 to 1024 */
  uint64_t size;        /* bytes, 0: what the machine and its cgroup allow */
  uint32_t mode;        /* permissions of the root directory, 0: 0700 */
  uint32_t populate;    /* nonzero: allocate and touch all memory now */
  uint32_t granularity; /* 0: the medium decides; 1 none, 2 page, 3 cache line, 4 byte: forced */
  uint32_t reserved;
} cairn_pool_options;

/* Creates a pool. `path` is a directory that does not exist yet (it will hold the pool's segments,
 * mode 0700) or a devdax device. options may be NULL.
 * Errors: -EEXIST, -ENOSPC (does not fit), -EINVAL (too small: below 4 MiB), -EACCES, ... */
CAIRN_API int cairn_pool_create(const char* path, const cairn_pool_options* options);

/* Attaches for reading only: takes no lane and recovers nothing. */
#define CAIRN_ATTACH_READ_ONLY 1U
/* With READ_ONLY: attaches also to a pool that was not detached cleanly. */
#define CAIRN_ATTACH_NO_RECOVERY 2U
/* Puts the pool behind a write window. Memory protection keys let this process store to the pool
 * only inside Cairn's calls, so a stray store raises SIGSEGV and does no damage. The window covers
 * what attach mapped, not what cairn_mmap mapped. From then on it holds for all pools that the
 * process attaches, and costs some 40 ns a call. A thread that reads a view must have made a Cairn
 * call, or descend from a thread that has. */
#define CAIRN_ATTACH_WRITE_WINDOW 4U

/* Attaches this process to a pool, and runs the recovery that is due. Takes constant time for a
 * clean pool.
 * Errors: -ENOENT, -EACCES (the pool's mode or another owner, also for root), -EBUSY (no free lane
 * within 10 s), -EUCLEAN (damaged), -EPROTONOSUPPORT (a newer format; the text names both
 * versions), -ESTALE (a pool of another host or container), -EOPNOTSUPP (a write window without
 * protection keys). */
CAIRN_API int cairn_pool_attach(const char* path, unsigned flags, cairn_pool** pool);
/* Closes what is still open, and detaches. NULL is allowed. */
CAIRN_API void cairn_pool_detach(cairn_pool* pool);

/* Sets the owner of what this process creates from now on. At attach, the owner is the process's
 * effective user and group. UINT32_MAX: the user, or group, as which the calling thread opens files
 * (setfsuid(2)). */
CAIRN_API void cairn_pool_set_user(cairn_pool* pool, uint32_t uid, uint32_t gid);
/* Returns the path of the pool's lock file. A process opens it for each child, each mapping and
 * some threads. A process that has given up the pool's user cannot open it. */
CAIRN_API const char* cairn_pool_lock_path(cairn_pool* pool);
/* Sets the durability of this process's writes (enum cairn_durability). */
CAIRN_API int cairn_pool_set_durability(cairn_pool* pool, int durability);
/* What the pool does with memory that no file has used for a minute. The pool stores the setting,
 * for all its processes. The setting matters on tmpfs only. A pool that was populated keeps its
 * memory in any case. */
enum cairn_release {
  CAIRN_RELEASE_IDLE = 0, /* returned to the system as processes remove files or need space */
  CAIRN_RELEASE_NEVER = 1 /* stays with the pool */
};
CAIRN_API int cairn_pool_set_release(cairn_pool* pool, int release);
/* Call this after the process has changed its RLIMIT_FSIZE. The library then asks the kernel for no
 * write to a pool beyond the limit. */
CAIRN_API void cairn_file_size_limit_changed(void);

typedef struct cairn_pool_info {
  char path[4096];
  uint8_t uuid[16];
  char medium[16];      /* "tmpfs", "file", "fsdax", "devdax" */
  char granularity[16]; /* "none", "page", "cache line", "byte" */
  uint32_t is_volatile; /* nonzero: nothing survives power loss */
  uint32_t format_version;
  uint32_t lanes;          /* most concurrent processes */
  uint32_t lanes_attached; /* processes attached now, without those that have ended */
  uint32_t segments;
  uint32_t large_pages;
  uint64_t size;       /* bytes in all segments */
  uint64_t usable;     /* bytes in blocks that files and their maps can take */
  uint64_t used;       /* live: bytes that a file, a directory or a table of the pool names */
  uint64_t reserve;    /* free bytes kept for unlink and truncate */
  uint64_t block_size; /* 4096 */
  uint64_t inodes;     /* files, directories and links that exist */
  uint64_t attach_generation;
  uint64_t created_ns;
  uint64_t full_count; /* writes that did not fit since the pool was made */
  uint64_t full_bytes; /* bytes of those writes that did not fit */
  uint64_t withheld;   /* bytes of `usable`: removed, but a process may still copy from them */
  uint64_t free_held;  /* free, in memory that the pool holds */
  uint64_t untouched;  /* free, in memory that the pool has not taken, or has given back */
} cairn_pool_info;     /* used + withheld + free_held + untouched = usable, in a pool at rest */

CAIRN_API int cairn_pool_get_info(cairn_pool* pool, cairn_pool_info* info);

/* Why calls failed with -ENOSPC in a pool that was not full itself. full_count counts them, too. */
enum cairn_shortage_of {
  CAIRN_SHORT_OF_NOTHING = 0,
  CAIRN_SHORT_OF_FILE_SYSTEM = 1, /* the file system that holds the pool is full */
  CAIRN_SHORT_OF_QUOTA = 2,       /* the user's quota on that file system */
  CAIRN_SHORT_OF_MEMORY = 3,      /* a pool in memory: the machine has no memory left */
  CAIRN_SHORT_OF_CGROUP = 4       /* a pool in memory: the limit of the caller's cgroup */
};
typedef struct cairn_shortage {
  uint32_t struct_size; /* sizeof(cairn_shortage), set by the caller */
  uint32_t of;          /* enum cairn_shortage_of, of the last such call */
  uint64_t count;       /* such calls since the pool was made */
} cairn_shortage;
CAIRN_API int cairn_pool_get_shortage(cairn_pool* pool, cairn_shortage* shortage);

/* The memory that is left on the machine, and within the memory limits of the caller's cgroup and
 * of those above it. UINT64_MAX: unknown, or there is no limit. cairn_pool_create() refuses a pool
 * in memory that is larger than cgroup_left. */
typedef struct cairn_memory_left {
  uint32_t struct_size; /* sizeof(cairn_memory_left), set by the caller */
  uint32_t reserved;
  uint64_t machine;
  uint64_t cgroup_left;   /* for pools: less than is free, because programs and drains need some */
  uint64_t cgroup_limit;  /* that leaves the least */
  char cgroup_file[4096]; /* that has this limit, or "" */
} cairn_memory_left;
CAIRN_API int cairn_memory_get_left(cairn_memory_left* left);

/* One attached process. */
typedef struct cairn_lane_info {
  uint32_t lane;
  uint32_t alive;   /* its liveness lock is held */
  uint32_t stopped; /* state T in /proc: may block other processes */
  int32_t pid;      /* as the process itself sees it: a hint, never used for decisions */
  char command[64];
} cairn_lane_info;
/* Fills at most `capacity` records. Returns how many there are, including those of processes that
 * have ended. */
CAIRN_API int cairn_pool_get_lanes(cairn_pool* pool, cairn_lane_info* lanes, size_t capacity);

/* Adds a segment of at least `bytes`, at most 1 TiB in one call (-EFBIG). Open handles see the new
 * space immediately. */
CAIRN_API int cairn_pool_grow(cairn_pool* pool, uint64_t bytes);

/* The library calls this with done and total bytes or blocks. A nonzero return stops the work with
 * -ECANCELED. */
typedef int (*cairn_progress)(void* context, uint64_t done, uint64_t total);
/* Allocates and touches all of the pool's memory for this process. progress may be NULL. */
CAIRN_API int cairn_pool_populate(cairn_pool* pool, cairn_progress progress, void* context);

/* The library calls this once for each finding of a check, or each warning. `text` names what and
 * where. */
typedef void (*cairn_finding)(void* context, const char* text);
/* Verifies the whole pool without changing it: superblocks, inodes, maps, records, directories,
 * space. Other processes should not use the pool meanwhile. Returns the number of findings, or a
 * negative errno. */
CAIRN_API int64_t cairn_pool_check(const char* path, cairn_finding finding, void* context);
/* Removes a pool that no process is attached to (-EBUSY otherwise). A process that is about to
 * attach gets -ENOENT. */
CAIRN_API int cairn_pool_remove(const char* path);
/* The library asks this while no process is attached, and none can attach except for reading
 * (CAIRN_ATTACH_READ_ONLY). Nonzero: the pool is removed. */
typedef int (*cairn_condition)(void* context);
/* Removes a pool as cairn_pool_remove does, unless the condition says no: -ECANCELED. A caller so
 * keeps what other processes have just put into the pool. */
CAIRN_API int cairn_pool_remove_if(const char* path, cairn_condition condition, void* context);
/* Calls `warning` with one line for each reason why a logout or the end of a job would remove
 * `path`. `path` is a pool or any other file, and need not exist yet. Returns the number of
 * reasons; 0 if none is known. */
CAIRN_API int cairn_lifetime_warnings(const char* path, cairn_finding warning, void* context);
/* Writes the path of this user's own place in a directory that others can write to: `cairn-UID`.
 * Where another user has taken that name, it is another directory, the same for all processes of
 * this user. It is closed to others. `create`: makes it if it is not there. `taken_by`, unless
 * NULL: the user who has taken the name, or UINT32_MAX. Errors: -EACCES (others have permissions
 * on it), -ENOENT (the name is taken, no other place, no `create`), -ENOTDIR, -ERANGE (`size`). */
CAIRN_API int cairn_own_place(const char* directory, int create, char* path, size_t size,
                              uint32_t* taken_by);
/* Removes what killed processes have left in the pool's directory beside the pool, whoever uses the
 * pool. */
CAIRN_API int cairn_pool_sweep(const char* path);

/* ---- life of a process -------------------------------------------------------------------------
 * A process holds a place (lane) in the pool by a lock, which the kernel drops when the process
 * dies.
 * Around fork(), call: prepare before; parent after it in the parent, also if fork failed; child
 * after it in the child. The child shares the open file descriptions, offsets included, as POSIX
 * asks.
 * Around exec, prepare returns a descriptor without FD_CLOEXEC that must be open in the new
 * program. There, cairn_exec_adopt (with its number) takes over the open file descriptions that it
 * kept. */
CAIRN_API int cairn_fork_prepare(cairn_pool* pool);
CAIRN_API void cairn_fork_parent(cairn_pool* pool);
CAIRN_API void cairn_fork_child(cairn_pool* pool);
/* Keeps the open file descriptions listed in `files` for the new program. Returns a descriptor. */
CAIRN_API int cairn_exec_prepare(cairn_pool* pool, cairn_file* const* files, size_t count);
/* Undoes cairn_exec_prepare after exec failed. */
CAIRN_API void cairn_exec_cancel(cairn_pool* pool, int descriptor);
/* Releases the predecessor's references and closes the descriptor. Call it in the new program,
 * after cairn_pool_attach and after cairn_file_adopt for every inherited file. */
CAIRN_API int cairn_exec_adopt(cairn_pool* pool, int descriptor);

/* ---- names ----------------------------------------------------------------------------------- */

typedef struct cairn_stat {
  cairn_ino ino;
  uint64_t generation; /* of the inode number; ino and generation name a file forever */
  uint32_t mode;       /* type and permissions */
  uint32_t uid;
  uint32_t gid;
  uint32_t nlink;
  uint64_t size;
  uint64_t blocks; /* 512-byte units taken */
  int64_t atime_ns;
  int64_t mtime_ns;
  int64_t ctime_ns;
  int64_t btime_ns; /* creation */
  uint64_t rdev;
  uint64_t flags; /* CAIRN_FILE_... */
} cairn_stat;

#define CAIRN_FILE_LAZY 1U    /* the covered directory has its bytes; see cairn/tier.h */
#define CAIRN_FILE_EVICTED 2U /* and CAIRN_FILE_LAZY: the pool had them before */

#define CAIRN_NOFOLLOW 1U /* do not follow a symbolic link in the last component */

/* Resolves `path` from directory `dir`. Follows symbolic links. ".." at the root stays at the
 * root. */
CAIRN_API int cairn_lookup(cairn_pool* pool, cairn_ino dir, const char* path, unsigned flags,
                           cairn_stat* st);
/* Says whether the caller may search a directory of this mode and owner. 0, or a negative errno,
 * which ends the walk. */
typedef int (*cairn_search)(uint32_t mode, uint32_t uid, uint32_t gid);
/* Resolves a path for an adapter that puts a pool directory `top` over a directory of the system.
 * It works as cairn_lookup, except at an absolute symbolic link and at a ".." that would leave
 * `top`. There it stops with -EXDEV and writes into `rest` (capacity bytes, NUL-terminated) the
 * remaining path. For a link, that is its target followed by the remaining path; for "..", "../"
 * and the remaining path. *at is then the directory reached.
 * On success, *parent is the directory of the last component and `rest` its name ("." if the path
 * ends in a directory itself). If the last component does not exist, the result is -ENOENT, with
 * *parent and `rest` filled in. *parent is 0 if an earlier component is missing. `rest` ends in "/"
 * if only a directory can have the name.
 * `search`, unless it is NULL, is asked about each directory that the walk searches and that not
 * everybody may search. It must not call this API.
 * Use *parent as the directory of other calls, not for comparisons. Once that directory is removed,
 * the calls refuse it (-ESTALE or -ENOENT), even if another directory has got its number. */
CAIRN_API int cairn_walk(cairn_pool* pool, cairn_ino top, cairn_ino dir, const char* path,
                         unsigned flags, cairn_search search, cairn_stat* st, cairn_ino* parent,
                         cairn_ino* at, char* rest, size_t capacity);
/* stat(2) by inode number. -ESTALE if the inode is gone. */
CAIRN_API int cairn_stat_ino(cairn_pool* pool, cairn_ino ino, cairn_stat* st);
/* Writes the path of a directory from `top` (as getcwd). Returns its length, or -ERANGE. */
CAIRN_API int cairn_path_of(cairn_pool* pool, cairn_ino top, cairn_ino dir, char* path,
                            size_t capacity);

CAIRN_API int cairn_mkdir(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode);
/* mknod(2) for regular files, FIFOs and the names of sockets. A device node is refused: -EPERM. */
CAIRN_API int cairn_mknod(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode);
CAIRN_API int cairn_unlink(cairn_pool* pool, cairn_ino dir, const char* path);
CAIRN_API int cairn_rmdir(cairn_pool* pool, cairn_ino dir, const char* path);
/* flags: 0, RENAME_NOREPLACE (1) or RENAME_EXCHANGE (2), as renameat2(2). */
CAIRN_API int cairn_rename(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
                           const char* to, unsigned flags);
CAIRN_API int cairn_link(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
                         const char* to, unsigned flags);
/* linkat(2) with AT_EMPTY_PATH: names an open file, also one that O_TMPFILE created. */
CAIRN_API int cairn_link_ino(cairn_pool* pool, cairn_ino ino, cairn_ino dir, const char* path);
CAIRN_API int cairn_symlink(cairn_pool* pool, const char* target, cairn_ino dir, const char* path);
/* readlink(2): returns the bytes put into buffer, which is not terminated. */
CAIRN_API ssize_t cairn_readlink(cairn_pool* pool, cairn_ino dir, const char* path, char* buffer,
                                 size_t capacity);

/* Attributes by inode number; for a path, call cairn_lookup first. -ESTALE if the number no longer
 * means the file of that generation (cairn_stat). Generation 0: whatever file has the number.
 * Times: CAIRN_TIME_NOW / _OMIT. */
#define CAIRN_TIME_NOW INT64_MIN
#define CAIRN_TIME_OMIT INT64_MAX
CAIRN_API int cairn_chmod(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint32_t mode);
/* UINT32_MAX leaves a value as it is. */
CAIRN_API int cairn_chown(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint32_t uid,
                          uint32_t gid);
CAIRN_API int cairn_utimens(cairn_pool* pool, cairn_ino ino, uint64_t generation, int64_t atime_ns,
                            int64_t mtime_ns);
CAIRN_API int cairn_truncate(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint64_t size);

/* Extended attributes, as setxattr(2) and its siblings (flags XATTR_CREATE 1, XATTR_REPLACE 2). All
 * attributes of an inode together hold at most 4 KiB (-ENOSPC), as on ext4. */
CAIRN_API int cairn_setxattr(cairn_pool* pool, cairn_ino ino, uint64_t generation, const char* name,
                             const void* value, size_t size, int flags);
CAIRN_API ssize_t cairn_getxattr(cairn_pool* pool, cairn_ino ino, uint64_t generation,
                                 const char* name, void* value, size_t capacity);
CAIRN_API ssize_t cairn_listxattr(cairn_pool* pool, cairn_ino ino, uint64_t generation, char* list,
                                  size_t capacity);
CAIRN_API int cairn_removexattr(cairn_pool* pool, cairn_ino ino, uint64_t generation,
                                const char* name);

typedef struct cairn_dirent {
  cairn_ino ino;
  uint64_t cookie; /* where the entry after this one is; valid for the directory's life */
  uint32_t type;   /* DT_... of <dirent.h> */
  uint32_t length;
  char name[256];
} cairn_dirent;
/* Returns up to `count` entries of a directory from `cookie` on. Cookie 0 is the start; "." and
 * ".." come first. Returns the number of entries; 0 at the end. Entries that exist during the whole
 * listing appear exactly once.
 * -EUCLEAN in place of 0 at the end: the directory holds names that no file can have. Those are
 * empty, "." or "..", or have "/" or a zero byte in them. They are left out; cairn_last_error()
 * names the first. Other failures also come after the entries that could be listed. */
CAIRN_API int cairn_readdir(cairn_pool* pool, cairn_ino dir, uint64_t cookie, cairn_dirent* entries,
                            size_t count);

typedef struct cairn_space {
  uint64_t total_bytes;
  uint64_t free_bytes;
  uint64_t files;
} cairn_space;
CAIRN_API int cairn_statfs(cairn_pool* pool, cairn_space* space);

/* ---- open files --------------------------------------------------------------------------------
 * A cairn_file is this process's handle on an OPEN FILE DESCRIPTION (POSIX). Offset and status
 * flags are in the pool; processes that inherited or adopted the description share them. */

/* open(2) flags: O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY,
 * O_NOFOLLOW, O_TMPFILE, O_PATH, O_SYNC/O_DSYNC (durable at return). Others are kept and have no
 * effect. */
CAIRN_API int cairn_open(cairn_pool* pool, cairn_ino dir, const char* path, int flags,
                         uint32_t mode, cairn_file** file);
/* Opens a file by inode number. The access mode, O_TRUNC, O_APPEND, O_PATH and O_SYNC/O_DSYNC
 * count; the type of the file is not checked. -ESTALE if the number no longer means the file of
 * that generation (cairn_stat). Generation 0: whatever file has the number. */
CAIRN_API int cairn_open_ino(cairn_pool* pool, cairn_ino ino, uint64_t generation, int flags,
                             cairn_file** file);
/* Drops this process's handle. The description ends with its last handle. Never fails for lack of
 * space. */
CAIRN_API int cairn_close(cairn_file* file);
/* Adds a reference to the handle in this process (dup): cairn_close must be called once more. */
CAIRN_API void cairn_retain(cairn_file* file);

/* Names an open file description inside its pool. Fits into the text of a symbolic link. */
typedef struct cairn_file_id {
  uint64_t slot;
  uint64_t generation;
} cairn_file_id;
CAIRN_API void cairn_file_get_id(cairn_file* file, cairn_file_id* id);
/* Makes a handle on a description that another process made (inherited over exec, passed by
 * socket). -EBADF if the description is gone. */
CAIRN_API int cairn_file_adopt(cairn_pool* pool, cairn_file_id id, cairn_file** file);

CAIRN_API cairn_ino cairn_file_ino(cairn_file* file);
CAIRN_API cairn_pool* cairn_file_pool(cairn_file* file);
/* Returns type and permissions as st_mode, as they are now. Reads only memory that a write of this
 * file uses. */
CAIRN_API uint32_t cairn_file_mode(cairn_file* file);
/* Gets and sets the open flags in force (access mode, O_APPEND, O_NONBLOCK, ...). Set changes
 * O_APPEND and what else fcntl(F_SETFL) may change. */
CAIRN_API int cairn_file_get_flags(cairn_file* file);
CAIRN_API int cairn_file_set_flags(cairn_file* file, int flags);

CAIRN_API ssize_t cairn_pread(cairn_file* file, void* buffer, size_t size, uint64_t offset);
/* If the pool gets full, the write returns the bytes written before, or -ENOSPC if there are
 * none. */
CAIRN_API ssize_t cairn_pwrite(cairn_file* file, const void* buffer, size_t size, uint64_t offset);
CAIRN_API ssize_t cairn_preadv(cairn_file* file, const struct iovec* vector, int count,
                               uint64_t offset);
CAIRN_API ssize_t cairn_pwritev(cairn_file* file, const struct iovec* vector, int count,
                                uint64_t offset);
/* Reads or writes several pieces of a file, which may be scattered in memory, too. Moves one piece
 * after the other until one comes short: a read at the end of file, or a write where space ran out.
 * Returns the bytes moved, or the error of the first piece. Costs less than a call for each piece.
 * O_APPEND is ignored. */
typedef struct cairn_piece {
  void* buffer;
  size_t size;
  uint64_t offset;
} cairn_piece;
CAIRN_API int64_t cairn_read_pieces(cairn_file* file, const cairn_piece* pieces, size_t count);
CAIRN_API int64_t cairn_write_pieces(cairn_file* file, const cairn_piece* pieces, size_t count);
/* Writes at the end of file whatever the flags say, without touching the shared offset: pwritev2(2)
 * with RWF_APPEND. Never overlaps with other processes that append. */
CAIRN_API ssize_t cairn_appendv(cairn_file* file, const struct iovec* vector, int count);
/* Read and write at the shared offset; with O_APPEND, write at the end of file. */
CAIRN_API ssize_t cairn_read(cairn_file* file, void* buffer, size_t size);
CAIRN_API ssize_t cairn_write(cairn_file* file, const void* buffer, size_t size);
CAIRN_API ssize_t cairn_readv(cairn_file* file, const struct iovec* vector, int count);
CAIRN_API ssize_t cairn_writev(cairn_file* file, const struct iovec* vector, int count);
/* whence: SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE. Returns the new offset. For
 * directories, the offset is the cookie. */
CAIRN_API int64_t cairn_seek(cairn_file* file, int64_t offset, int whence);

CAIRN_API int cairn_fstat(cairn_file* file, cairn_stat* st);
CAIRN_API int cairn_ftruncate(cairn_file* file, uint64_t size);
/* mode: 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE
 * (with or without KEEP_SIZE). Other modes return -EOPNOTSUPP. All or nothing: -ENOSPC allocates
 * nothing. */
CAIRN_API int cairn_fallocate(cairn_file* file, int mode, uint64_t offset, uint64_t size);
/* Makes a file durable. On non-volatile media, what any process wrote to the file before, and its
 * name, survive power loss when the call returns. On volatile media nothing does; the call returns
 * 0.
 * In a pool on a plain file, a power loss takes a file back to an earlier size. That is its size at
 * the last fsync, or when all processes had last detached in order. A file that was never synced is
 * empty then. Renaming over a file syncs first. */
CAIRN_API int cairn_fsync(cairn_file* file);
CAIRN_API int cairn_fdatasync(cairn_file* file);

/* mmap(2) of a file: maps the pool's own pages. prot, flags (MAP_SHARED, MAP_PRIVATE, MAP_FIXED...)
 * and address are those of mmap(2). The call allocates holes up to the end of file (-ENOMEM if they
 * do not fit). The mapping pins its blocks until its last inheritor has exited or called
 * cairn_munmap. Pages beyond the end of file raise SIGBUS, even after the file has grown, until
 * cairn_mmap_grow is called.
 * On a dax device, a private mapping is a copy of the file at this moment. If the device's
 * alignment is above 4 KiB, shared mappings are refused: -ENODEV. */
CAIRN_API int cairn_mmap(cairn_file* file, void* address, size_t size, int prot, int flags,
                         uint64_t offset, void** mapped);
/* Maps what this or another process has added to the file into [address, address + size) of a
 * mapping of it. The pages get the protection `prot`. Returns how many bytes from `address` on are
 * within the file now, in whole pages; 0: none. Async-signal-safe outside Cairn's calls: a handler
 * of SIGBUS may call it. */
CAIRN_API int64_t cairn_mmap_grow(cairn_file* file, void* address, size_t size, int prot);
/* Unpins and unmaps any range that may hold mappings of cairn_mmap. */
CAIRN_API int cairn_munmap(cairn_pool* pool, void* address, size_t size);
/* Unpins the mappings of a range over which the caller has already mapped something else. */
CAIRN_API void cairn_mmap_replaced(cairn_pool* pool, void* address, size_t size);
CAIRN_API int cairn_msync(cairn_pool* pool, void* address, size_t size, int flags);
/* Call this before mprotect(2) makes a range writable that may hold mappings of cairn_mmap. The
 * library cannot see the stores that follow, so the call counts as a change of the files that are
 * mapped shared there. -EACCES: one of them was not open for writing. */
CAIRN_API int cairn_mmap_writable(cairn_pool* pool, void* address, size_t size);

/* Zero-copy read: says where [offset, offset + size) is in memory; view->size is the contiguous
 * part of it. -ENODATA for a hole. The view pins the blocks until cairn_view_close. It shows what
 * is written to the file there meanwhile, and zeros after the file was truncated. Writing through a
 * view is not allowed. */
typedef struct cairn_view {
  const void* data;
  size_t size;
  uint64_t pin;
} cairn_view;
CAIRN_API int cairn_view_open(cairn_file* file, uint64_t offset, size_t size, cairn_view* view);
CAIRN_API void cairn_view_close(cairn_file* file, cairn_view* view);

/* Returns a kernel descriptor (O_CLOEXEC, owned by the caller) on the hidden companion file of the
 * inode. Record locks and flock are taken on it, with exactly the kernel's rules. */
CAIRN_API int cairn_companion(cairn_file* file);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_CAIRN_H */
