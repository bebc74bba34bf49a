/* Cairn: files at memory speed on the node that runs the job. The C API.
 *
 * Conventions
 *  1. A function that can fail returns 0 or a count on success and a NEGATIVE errno value on failure
 *     (-ENOSPC, -ENOENT, ...). It never sets errno. cairn_last_error() then holds, for the calling
 *     thread, one line that names path, offset and cause.
 *  2. Handles (cairn_pool, cairn_file) are opaque, belong to the process that made them and may be
 *     used by all its threads at once. After fork() the child uses its handles after
 *     cairn_fork_child() has run (see "Life of a process").
 *  3. Paths are byte strings without encoding, relative to a directory given by inode number
 *     (CAIRN_ROOT is the pool's root); a leading '/' starts at the root too. Names hold at most 255
 *     bytes, paths 4095.
 *  4. Offsets and sizes are bytes; times are nanoseconds since the epoch (UTC); modes, open flags and
 *     whence are those of <fcntl.h>, <sys/stat.h> and <unistd.h>.
 *  5. [in] arguments are never kept after return; [out] arguments are written on success only. NULL where
 *     bytes, a path or a name must be is -EFAULT, or a fault as any other wrong address is. Flags and
 *     options that a call does not know are -EINVAL (those of open(2) mean nothing then).
 *
 * Guarantees, unless a function says otherwise
 *  - What a call wrote is visible to every process of the node when the call returns, and outlives
 *    any process. What survives power loss: see cairn_fsync().
 *  - A process killed inside a call leaves a metadata call either done or not done, a write partly
 *    done only inside its own byte range; no lock stays held and nobody else notices.
 *  - Reads and overwrites of mapped bytes take no lock. They make no system call but where a process
 *    touches memory for the first time, where others have just grown the pool, and, in a pool in a
 *    plain file on a disk, for writes of 2 KiB and more.
 *  - They are async-signal-safe: pread, pwrite, their vector forms, read, write. In a pool in a plain
 *    file on a disk, writes are so only if the handler has not interrupted a call on that pool.
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

/* The detail text of the calling thread's last failure: path, offset, cause. Never NULL. */
CAIRN_API const char* cairn_last_error(void);
/* "0.1.0" */
CAIRN_API const char* cairn_version(void);

/* ---- pools ------------------------------------------------------------------------------------ */

enum cairn_durability {
  CAIRN_DURABILITY_FSYNC = 1, /* writes survive power loss after fsync (the default) */
  CAIRN_DURABILITY_WRITE = 2  /* each write survives power loss when it returns */
};

typedef struct cairn_pool_options {
  uint32_t struct_size; /* sizeof(cairn_pool_options), for later versions */
  uint32_t lanes;       /* most processes at once, 0: one for each 256 KiB, 64 to 1024 */
  uint64_t size;        /* bytes, 0: what the machine and its cgroup allow */
  uint32_t mode;        /* permissions of the root directory, 0: 0700 */
  uint32_t populate;    /* nonzero: allocate and touch all memory now */
  uint32_t granularity; /* 0: as the medium has it; 1 none, 2 page, 3 cache line, 4 byte: forced */
  uint32_t reserved;
} cairn_pool_options;

/* Creates a pool. `path` is a directory that does not exist yet (the pool's segments will lie in it,
 * mode 0700) or a devdax device. options may be NULL.
 * Errors: -EEXIST, -ENOSPC (does not fit), -EINVAL (too small: 4 MiB is the least), -EACCES, ... */
CAIRN_API int cairn_pool_create(const char* path, const cairn_pool_options* options);

/* Look only: no lane is taken, nothing is recovered. */
#define CAIRN_ATTACH_READ_ONLY 1U
/* With READ_ONLY: look at a pool that was not detached cleanly. */
#define CAIRN_ATTACH_NO_RECOVERY 2U
/* Put the pool behind a window: memory protection keys let this process store to it (through what attach
 * mapped, not through cairn_mmap) only inside our calls, so a stray store is SIGSEGV and no damage. From
 * then on for all pools that the process attaches; costs some 40 ns a call. A thread that reads a view
 * must have made a call of ours, or descend from one that has. */
#define CAIRN_ATTACH_WRITE_WINDOW 4U

/* Attaches this process to a pool; runs the recovery that is due. Constant time for a clean pool.
 * Errors: -ENOENT, -EACCES (its mode, or another owner, also for root), -EBUSY (no free lane within
 * 10 s), -EUCLEAN (damaged), -EPROTONOSUPPORT (a newer format, both versions named), -ESTALE (another
 * host's or container's), -EOPNOTSUPP (a write window without protection keys). */
CAIRN_API int cairn_pool_attach(const char* path, unsigned flags, cairn_pool** pool);
/* Closes what is still open and detaches. NULL is allowed. */
CAIRN_API void cairn_pool_detach(cairn_pool* pool);

/* Who owns what this process makes from now on; at first its effective user and group at attach.
 * UINT32_MAX: the user, or group, as which the calling thread opens files (setfsuid(2)). */
CAIRN_API void cairn_pool_set_user(cairn_pool* pool, uint32_t uid, uint32_t gid);
/* The pool's lock file. A process opens it for each child, each mapping and some threads; a process
 * that has given up the pool's user cannot open it. */
CAIRN_API const char* cairn_pool_lock_path(cairn_pool* pool);
/* Durability of the writes of this process (enum cairn_durability). */
CAIRN_API int cairn_pool_set_durability(cairn_pool* pool, int durability);
/* What becomes of memory that no file has used for a minute; stored in the pool, for all its
 * processes. Matters on tmpfs only. A pool that was populated keeps its memory in any case. */
enum cairn_release {
  CAIRN_RELEASE_IDLE = 0, /* goes back to the system as processes remove files or need space */
  CAIRN_RELEASE_NEVER = 1 /* stays with the pool */
};
CAIRN_API int cairn_pool_set_release(cairn_pool* pool, int release);
/* To be called after the process has changed its RLIMIT_FSIZE: the kernel is not asked to write to a pool beyond it. */
CAIRN_API void cairn_file_size_limit_changed(void);

typedef struct cairn_pool_info {
  char path[4096];
  uint8_t uuid[16];
  char medium[16];      /* "tmpfs", "file", "fsdax", "devdax" */
  char granularity[16]; /* "none", "page", "cache line", "byte" */
  uint32_t is_volatile; /* nonzero: nothing survives power loss */
  uint32_t format_version;
  uint32_t lanes;          /* most processes */
  uint32_t lanes_attached; /* processes attached now, without those that have ended */
  uint32_t segments;
  uint32_t large_pages;
  uint64_t size;       /* bytes in all segments */
  uint64_t usable;     /* bytes in blocks that files and their maps can take */
  uint64_t used;       /* live: of these, what a file, a directory or a table of the pool names */
  uint64_t reserve;    /* of the free ones, kept for unlink and truncate */
  uint64_t block_size; /* 4096 */
  uint64_t inodes;     /* files, directories and links that exist */
  uint64_t attach_generation;
  uint64_t created_ns;
  uint64_t full_count; /* writes that did not fit, since the pool was made */
  uint64_t full_bytes; /* and how many bytes of them did not */
  uint64_t withheld;   /* of the usable bytes: removed, but somebody may still copy from them */
  uint64_t free_held;  /* free, in memory that the pool holds */
  uint64_t untouched;  /* free, in memory that the pool has not taken, or has given back */
} cairn_pool_info;     /* used + withheld + free_held + untouched = usable, in a pool at rest */

CAIRN_API int cairn_pool_get_info(cairn_pool* pool, cairn_pool_info* info);

/* Why calls failed with -ENOSPC in a pool that was not full itself: full_count counts them too. */
enum cairn_shortage_of {
  CAIRN_SHORT_OF_NOTHING = 0,
  CAIRN_SHORT_OF_FILE_SYSTEM = 1, /* the one that the pool lies on is full */
  CAIRN_SHORT_OF_QUOTA = 2,       /* the user's quota there */
  CAIRN_SHORT_OF_MEMORY = 3,      /* a pool in memory: the machine has no more */
  CAIRN_SHORT_OF_CGROUP = 4       /* a pool in memory: the limit of the caller's cgroup */
};
typedef struct cairn_shortage {
  uint32_t struct_size; /* sizeof(cairn_shortage), set by the caller */
  uint32_t of;          /* enum cairn_shortage_of, of the last such call */
  uint64_t count;       /* such calls, since the pool was made */
} cairn_shortage;
CAIRN_API int cairn_pool_get_shortage(cairn_pool* pool, cairn_shortage* shortage);

/* One attached process. */
typedef struct cairn_lane_info {
  uint32_t lane;
  uint32_t alive;   /* its liveness lock is held */
  uint32_t stopped; /* state T in /proc: may hold others up */
  int32_t pid;      /* as seen by the process itself: a hint, never used for decisions */
  char command[64];
} cairn_lane_info;
/* Fills at most `capacity` records; returns how many there are, with those of processes that have ended. */
CAIRN_API int cairn_pool_get_lanes(cairn_pool* pool, cairn_lane_info* lanes, size_t capacity);

/* Adds a segment of at least `bytes`, at most 1 TiB at once (-EFBIG). Open handles see the new space at once. */
CAIRN_API int cairn_pool_grow(cairn_pool* pool, uint64_t bytes);

/* Called with done and total bytes or blocks; a nonzero return stops with -ECANCELED. */
typedef int (*cairn_progress)(void* context, uint64_t done, uint64_t total);
/* Allocates and touches all of the pool's memory for this process. progress may be NULL. */
CAIRN_API int cairn_pool_populate(cairn_pool* pool, cairn_progress progress, void* context);

/* Called once for each finding of a check, or each warning; `text` names what and where. */
typedef void (*cairn_finding)(void* context, const char* text);
/* Verifies the whole pool without changing it: superblocks, inodes, maps, records, directories,
 * space. Other processes should be quiet. Returns the number of findings, or a negative errno. */
CAIRN_API int64_t cairn_pool_check(const char* path, cairn_finding finding, void* context);
/* Removes a pool that nobody is attached to (-EBUSY otherwise). Who is just about to attach is told -ENOENT. */
CAIRN_API int cairn_pool_remove(const char* path);
/* Asked while nobody is attached and nobody can attach, but for reading (CAIRN_ATTACH_READ_ONLY): nonzero, and the pool goes. */
typedef int (*cairn_condition)(void* context);
/* The same for who does not want to lose what others have just put into it: -ECANCELED if the condition says no. */
CAIRN_API int cairn_pool_remove_if(const char* path, cairn_condition condition, void* context);
/* Calls `warning` with one line for each reason why a logout or the end of a job would remove what lies, or will lie,
 * at `path` (a pool or any other file). Returns how many; 0 where none is known. */
CAIRN_API int cairn_lifetime_warnings(const char* path, cairn_finding warning, void* context);
/* Removes what killed processes have left in the pool's directory beside the pool, whoever uses that. */
CAIRN_API int cairn_pool_sweep(const char* path);

/* ---- life of a process -------------------------------------------------------------------------
 * A process holds a place (lane) in the pool with a lock that the kernel drops when it dies.
 * Around fork(): prepare before, parent after in the parent (also when fork failed), child after in
 * the child. The child shares the open file descriptions, offsets included, as POSIX asks.
 * Around exec: prepare gives a descriptor without FD_CLOEXEC that must be open in the new program;
 * there cairn_exec_adopt (with the number) hands over the open file descriptions it kept.         */
CAIRN_API int cairn_fork_prepare(cairn_pool* pool);
CAIRN_API void cairn_fork_parent(cairn_pool* pool);
CAIRN_API void cairn_fork_child(cairn_pool* pool);
/* Open file descriptions listed in `files` will be kept for the new program. Returns a descriptor. */
CAIRN_API int cairn_exec_prepare(cairn_pool* pool, cairn_file* const* files, size_t count);
/* exec failed: undo. */
CAIRN_API void cairn_exec_cancel(cairn_pool* pool, int descriptor);
/* In the new program, after cairn_pool_attach and after every inherited file has been adopted with
 * cairn_file_adopt: gives the predecessor's references up and closes the descriptor. */
CAIRN_API int cairn_exec_adopt(cairn_pool* pool, int descriptor);

/* ---- names ------------------------------------------------------------------------------------- */

typedef struct cairn_stat {
  cairn_ino ino;
  uint64_t generation; /* of the inode number; ino and generation name a file for ever */
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

#define CAIRN_FILE_LAZY 1U /* contents still lie in lower; see cairn/cover.h */

#define CAIRN_NOFOLLOW 1U /* do not follow a symbolic link in the last component */

/* Resolves `path` from directory `dir`. Symbolic links are followed; ".." at the root stays there. */
CAIRN_API int cairn_lookup(cairn_pool* pool, cairn_ino dir, const char* path, unsigned flags,
                           cairn_stat* st);
/* May the caller search a directory of this mode and owner? 0 or a negative errno, which ends the walk. */
typedef int (*cairn_search)(uint32_t mode, uint32_t uid, uint32_t gid);
/* Resolution for adapters that put a pool directory `top` over a directory of the system: as
 * cairn_lookup, but when the walk meets an absolute symbolic link, or ".." would leave `top`, it stops
 * with -EXDEV and writes into `rest` (capacity bytes, NUL-terminated) what is left: for a link its
 * target followed by the remaining path, for ".." "../" and the remaining path; *at is then the directory reached.
 * On success *parent is the directory of the last component and `rest` its name ("." if the path ends in a directory itself);
 * a last component that does not exist gives -ENOENT with *parent and `rest` filled in
 * (parent 0 if an earlier component was missing), its name with "/" behind it if only a directory can come there.
 * `search`, unless it is NULL, is asked about each directory in which a component is looked for and which not
 * everybody may search. It must not call this API.
 * *parent is for other calls as their directory, not for comparisons: once that is removed, they refuse it (-ESTALE or
 * -ENOENT), also if another directory has got its number. */
CAIRN_API int cairn_walk(cairn_pool* pool, cairn_ino top, cairn_ino dir, const char* path,
                         unsigned flags, cairn_search search, cairn_stat* st, cairn_ino* parent,
                         cairn_ino* at, char* rest, size_t capacity);
/* As stat(2) by inode number; -ESTALE if it is gone. */
CAIRN_API int cairn_stat_ino(cairn_pool* pool, cairn_ino ino, cairn_stat* st);
/* The path of a directory from `top` (as getcwd): length, or -ERANGE. */
CAIRN_API int cairn_path_of(cairn_pool* pool, cairn_ino top, cairn_ino dir, char* path,
                            size_t capacity);

CAIRN_API int cairn_mkdir(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode);
/* mknod for regular files, FIFOs and sockets' names; the name of a device node is refused: -EPERM. */
CAIRN_API int cairn_mknod(cairn_pool* pool, cairn_ino dir, const char* path, uint32_t mode);
CAIRN_API int cairn_unlink(cairn_pool* pool, cairn_ino dir, const char* path);
CAIRN_API int cairn_rmdir(cairn_pool* pool, cairn_ino dir, const char* path);
/* flags: 0, RENAME_NOREPLACE (1) or RENAME_EXCHANGE (2), as renameat2(2). */
CAIRN_API int cairn_rename(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
                           const char* to, unsigned flags);
CAIRN_API int cairn_link(cairn_pool* pool, cairn_ino from_dir, const char* from, cairn_ino to_dir,
                         const char* to, unsigned flags);
/* linkat(2) with AT_EMPTY_PATH: names an open file, also one made by O_TMPFILE. */
CAIRN_API int cairn_link_ino(cairn_pool* pool, cairn_ino ino, cairn_ino dir, const char* path);
CAIRN_API int cairn_symlink(cairn_pool* pool, const char* target, cairn_ino dir, const char* path);
/* Bytes put into buffer (not terminated), as readlink(2). */
CAIRN_API ssize_t cairn_readlink(cairn_pool* pool, cairn_ino dir, const char* path, char* buffer,
                                 size_t capacity);

/* By inode number, for the path forms call cairn_lookup first. -ESTALE if the number does not mean the file of that
 * generation (cairn_stat) any more; 0: whatever has the number. Times: CAIRN_TIME_NOW / _OMIT. */
#define CAIRN_TIME_NOW INT64_MIN
#define CAIRN_TIME_OMIT INT64_MAX
CAIRN_API int cairn_chmod(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint32_t mode);
/* UINT32_MAX leaves a value as it is. */
CAIRN_API int cairn_chown(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint32_t uid,
                          uint32_t gid);
CAIRN_API int cairn_utimens(cairn_pool* pool, cairn_ino ino, uint64_t generation, int64_t atime_ns,
                            int64_t mtime_ns);
CAIRN_API int cairn_truncate(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint64_t size);

/* Extended attributes, as setxattr(2) and friends (flags XATTR_CREATE 1, XATTR_REPLACE 2). All of an
 * inode's attributes together hold at most 4 KiB (-ENOSPC), as on ext4. */
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
/* Up to `count` entries of a directory from `cookie` on (0: the start, "." and ".." come first).
 * Returns how many; 0 at the end. Entries that exist during the whole listing appear exactly once.
 * -EUCLEAN instead of 0 at the end: the directory holds names that no file can have (empty, "." or "..", with "/" or a
 * zero byte in it), which are left out; cairn_last_error() names the first. Other failures come behind what could be
 * listed, too. */
CAIRN_API int cairn_readdir(cairn_pool* pool, cairn_ino dir, uint64_t cookie, cairn_dirent* entries,
                            size_t count);

typedef struct cairn_space {
  uint64_t total_bytes;
  uint64_t free_bytes;
  uint64_t files;
} cairn_space;
CAIRN_API int cairn_statfs(cairn_pool* pool, cairn_space* space);

/* ---- open files --------------------------------------------------------------------------------
 * A cairn_file is this process's handle on an OPEN FILE DESCRIPTION (POSIX): offset and status flags
 * lie in the pool and are shared with whoever inherited or adopted it.                             */

/* open(2) flags: O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY,
 * O_NOFOLLOW, O_TMPFILE, O_PATH, O_SYNC/O_DSYNC (durable at return); others are kept and mean nothing. */
CAIRN_API int cairn_open(cairn_pool* pool, cairn_ino dir, const char* path, int flags,
                         uint32_t mode, cairn_file** file);
/* The same by inode number: the access mode, O_TRUNC, O_APPEND, O_PATH and O_SYNC/O_DSYNC count; what
 * kind of file it is, is not looked at. -ESTALE if the number does not mean the file of that generation
 * (cairn_stat) any more; 0: whatever has the number. */
CAIRN_API int cairn_open_ino(cairn_pool* pool, cairn_ino ino, uint64_t generation, int flags,
                             cairn_file** file);
/* Drops this process's handle; the description goes with its last one. Never fails for lack of space. */
CAIRN_API int cairn_close(cairn_file* file);
/* A second handle's worth of reference in this process (dup): cairn_close must be called once more. */
CAIRN_API void cairn_retain(cairn_file* file);

/* Names an open file description inside its pool; fits in a symbolic link's text. */
typedef struct cairn_file_id {
  uint64_t slot;
  uint64_t generation;
} cairn_file_id;
CAIRN_API void cairn_file_get_id(cairn_file* file, cairn_file_id* id);
/* A handle on a description that another process made (inherited over exec, passed by socket).
 * -EBADF if it is gone. */
CAIRN_API int cairn_file_adopt(cairn_pool* pool, cairn_file_id id, cairn_file** file);

CAIRN_API cairn_ino cairn_file_ino(cairn_file* file);
CAIRN_API cairn_pool* cairn_file_pool(cairn_file* file);
/* Type and permissions as st_mode, as they are now: one look at memory that a write of this file uses. */
CAIRN_API uint32_t cairn_file_mode(cairn_file* file);
/* The open flags in force (access mode, O_APPEND, O_NONBLOCK, ...); set changes O_APPEND and what
 * else fcntl(F_SETFL) may change. */
CAIRN_API int cairn_file_get_flags(cairn_file* file);
CAIRN_API int cairn_file_set_flags(cairn_file* file, int flags);

CAIRN_API ssize_t cairn_pread(cairn_file* file, void* buffer, size_t size, uint64_t offset);
/* A write that meets a full pool returns what it wrote before, or -ENOSPC if that is nothing. */
CAIRN_API ssize_t cairn_pwrite(cairn_file* file, const void* buffer, size_t size, uint64_t offset);
CAIRN_API ssize_t cairn_preadv(cairn_file* file, const struct iovec* vector, int count,
                               uint64_t offset);
CAIRN_API ssize_t cairn_pwritev(cairn_file* file, const struct iovec* vector, int count,
                                uint64_t offset);
/* Several pieces of a file, scattered in memory too. Moves one after the other until one comes short (a read at the end of
 * file, a write where space ran out) and returns the bytes moved, or the error that the first piece met. Costs less than a call
 * for each. O_APPEND is ignored. */
typedef struct cairn_piece {
  void* buffer;
  size_t size;
  uint64_t offset;
} cairn_piece;
CAIRN_API int64_t cairn_read_pieces(cairn_file* file, const cairn_piece* pieces, size_t count);
CAIRN_API int64_t cairn_write_pieces(cairn_file* file, const cairn_piece* pieces, size_t count);
/* At the end of file whatever the flags say, without touching the shared offset: pwritev2(2) with
 * RWF_APPEND. Never overlaps with others who append. */
CAIRN_API ssize_t cairn_appendv(cairn_file* file, const struct iovec* vector, int count);
/* At the shared offset; with O_APPEND at the end of file. */
CAIRN_API ssize_t cairn_read(cairn_file* file, void* buffer, size_t size);
CAIRN_API ssize_t cairn_write(cairn_file* file, const void* buffer, size_t size);
CAIRN_API ssize_t cairn_readv(cairn_file* file, const struct iovec* vector, int count);
CAIRN_API ssize_t cairn_writev(cairn_file* file, const struct iovec* vector, int count);
/* SEEK_SET, SEEK_CUR, SEEK_END, SEEK_DATA, SEEK_HOLE; the new offset. Directories: the cookie. */
CAIRN_API int64_t cairn_seek(cairn_file* file, int64_t offset, int whence);

CAIRN_API int cairn_fstat(cairn_file* file, cairn_stat* st);
CAIRN_API int cairn_ftruncate(cairn_file* file, uint64_t size);
/* mode: 0, FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE|FALLOC_FL_KEEP_SIZE, FALLOC_FL_ZERO_RANGE
 * (with or without KEEP_SIZE); others -EOPNOTSUPP. All or nothing: -ENOSPC allocates nothing. */
CAIRN_API int cairn_fallocate(cairn_file* file, int mode, uint64_t offset, uint64_t size);
/* On non-volatile media, what was written to the file before, by any process, and its name survive
 * power loss when this returns. On volatile media nothing does; returns 0. In a
 * pool on a plain file, a power loss takes a file back to its size at the last fsync, or at the last time that
 * all had detached in order: a file that was never synced is empty then. Renaming over a file syncs first. */
CAIRN_API int cairn_fsync(cairn_file* file);
CAIRN_API int cairn_fdatasync(cairn_file* file);

/* mmap(2) of a file: the pool's own pages. prot, flags (MAP_SHARED, MAP_PRIVATE, MAP_FIXED...) and
 * address as there. Holes up to the end of file are allocated (-ENOMEM if they do not fit). The
 * mapping pins its blocks until its last inheritor has gone or cairn_munmap was called. Pages beyond the end of
 * file raise SIGBUS, also when the file has grown, until cairn_mmap_grow is called. On a dax device
 * private mappings are copies of this moment, and where its alignment is above 4 KiB shared ones are refused:
 * -ENODEV. */
CAIRN_API int cairn_mmap(cairn_file* file, void* address, size_t size, int prot, int flags,
                         uint64_t offset, void** mapped);
/* Places what the file has grown by, here or in another process, into [address, address + size) of a mapping of it. The
 * pages get the protection `prot`. Returns how many bytes from `address` on are within the file now, in
 * whole pages; 0: none. Async-signal-safe outside our calls: a handler of SIGBUS may call it. */
CAIRN_API int64_t cairn_mmap_grow(cairn_file* file, void* address, size_t size, int prot);
/* For any range that may hold mappings of cairn_mmap: unpins them and unmaps. */
CAIRN_API int cairn_munmap(cairn_pool* pool, void* address, size_t size);
/* The same where something else has been mapped over the range already: unpins. */
CAIRN_API void cairn_mmap_replaced(cairn_pool* pool, void* address, size_t size);
CAIRN_API int cairn_msync(cairn_pool* pool, void* address, size_t size, int flags);
/* To be called before mprotect(2) makes a range writable that may hold mappings of cairn_mmap: nobody sees the
 * stores that follow, so this counts as a change of the files that are mapped shared there. -EACCES:
 * one of them was not open for writing. */
CAIRN_API int cairn_mmap_writable(cairn_pool* pool, void* address, size_t size);

/* Zero-copy: where [offset, offset + size) lies in memory; view->size is what of it is contiguous.
 * -ENODATA for a hole. The view pins the blocks until cairn_view_close: it shows what is written to the file there
 * meanwhile, and zeros once it has been cut. Writing through it is not allowed. */
typedef struct cairn_view {
  const void* data;
  size_t size;
  uint64_t pin;
} cairn_view;
CAIRN_API int cairn_view_open(cairn_file* file, uint64_t offset, size_t size, cairn_view* view);
CAIRN_API void cairn_view_close(cairn_file* file, cairn_view* view);

/* A kernel descriptor (O_CLOEXEC, owned by the caller) on the hidden companion file of the inode, on
 * which record locks and flock are taken with exactly the kernel's rules. */
CAIRN_API int cairn_companion(cairn_file* file);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_CAIRN_H */
