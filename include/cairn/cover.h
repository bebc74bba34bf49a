/* Covering a directory: a directory of the pool stands in for a directory of the system ("lower").
 *
 * While a directory is covered, names and contents come from the pool. What was in lower before is
 * imported lazily: a directory's names when a process first enters it, a file's bytes when a
 * process first writes it. Until then, the library reads them from lower. A drain carries the
 * changes back: it writes each file under a temporary name, compares it, and renames it.
 * cairn/tier.h has the calls that stage, evict or drain one file.
 * Conventions as in cairn/cairn.h.
 */
#ifndef CAIRN_COVER_H
#define CAIRN_COVER_H

#include "cairn/cairn.h"
#include "cairn/tier.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_cover_info;
/* The library calls this with one line about an event of a cover that the caller did not ask
 * for. */
typedef void (*cairn_cover_notice)(void* context, const char* text);

typedef struct cairn_cover_options {
  uint32_t struct_size; /* sizeof(cairn_cover_options) */
  uint32_t keep;        /* nonzero: the data stay in the pool when the job ends (--drain never) */
  const char* job;      /* the launcher's job id, or NULL */
  /* The rest may be missing (struct_size). */
  uint32_t fresh; /* nonzero: start afresh, see below */
  uint32_t reserved;
  const char* launch; /* what the processes of one launcher call have in common, or NULL */
  void (*left)(void* context, const struct cairn_cover_info* info); /* or NULL */
  void* context;                                                    /* for left */
  cairn_cover_notice notice;                                        /* or NULL */
  void* notice_context;
} cairn_cover_options;

/* Covers `directory` (resolved to its real path) with a directory of the pool. If a cover of the
 * same job, or of the same host and pool, exists, the call joins it. The claim is a file in
 * `directory`, `.cairn-claim`, of which only one can be created. A claim of this host is void if
 * its pool is gone. It is also void if it is drained and unused, by processes and by
 * cairn_cover_hold.
 * `fresh`: discards what an earlier run left in the pool for the directory, as cairn_cover_discard
 * does; the directory's own files and the claim stay. If the cover is in use, the call joins it and
 * discards nothing. What runs of the same launch left does not count as an earlier run's. The
 * library calls `left` before, with what is there. That is about to be discarded unless
 * info->in_use says otherwise.
 * A token in the claim and in the pool says which directory is covered. A directory that was
 * removed and created again is therefore not taken for it. If the claim is missing, a directory on
 * a local file system is recognised by device, inode and time of creation. It then gets its claim
 * again, and `notice` is told. On a local file system, a copy of the directory with its claim (cp
 * -a) is another directory. If the path leads to another directory and everything was drained, the
 * old cover is dropped, and `notice` is told.
 * Errors: -ENOENT, -ENOTDIR, -ELOOP (the directory is in a pool or in another cover), -EBUSY
 * (claimed by another job; cairn_last_error names its host and job), -ESTALE (not the covered
 * directory, for which the pool keeps data; cairn_last_error names them), -EEXIST (covered by
 * another path and moved here; the pool keeps data for it), -ENOSPC (the pool is full, and no file
 * in it could be evicted; drain a cover of it first), -EACCES, -EROFS. */
CAIRN_API int cairn_cover_open(cairn_pool* pool, const char* directory,
                               const cairn_cover_options* options, cairn_cover** cover);
/* Joins a cover that exists, for processes inside a run. -ENOENT if there is none. */
CAIRN_API int cairn_cover_join(cairn_pool* pool, const char* directory, cairn_cover** cover);
/* Joins a cover for cairn_cover_drain_to and cairn_cover_discard, even if the directory is gone or
 * another one has its path. If the directory is gone, `directory` is its real path. -ENOENT if the
 * pool has no such cover. */
CAIRN_API int cairn_cover_join_kept(cairn_pool* pool, const char* directory, cairn_cover** cover);
CAIRN_API void cairn_cover_close(cairn_cover* cover);
/* Returns a descriptor (without FD_CLOEXEC) for a process that runs programs in a cover. The
 * cover's claim is not void until all copies of the descriptor are closed. That holds even if no
 * process is attached to the pool, the caller included. */
CAIRN_API int cairn_cover_hold(const cairn_cover* cover);

/* Return the pool directory that stands for the covered directory, and the real path of the
 * latter. */
CAIRN_API cairn_ino cairn_cover_top(const cairn_cover* cover);
CAIRN_API const char* cairn_cover_path(const cairn_cover* cover);

typedef struct cairn_drain_report {
  uint64_t files; /* written to lower */
  uint64_t bytes;
  uint64_t removed; /* names removed from lower */
  uint64_t directories;
  uint64_t conflicts; /* changed in lower outside Cairn: both kept, nothing overwritten */
  uint64_t failed;    /* other errors; the data are still in the pool */
  uint64_t waiting;   /* files that several nodes write, of which other nodes' parts are missing */
} cairn_drain_report;

/* The library calls this for each file that could not be drained, with one line that names path and
 * cause. */
typedef void (*cairn_drain_problem)(void* context, const char* text);

/* This call, and those below that drain, discard or end a cover, return -EPERM in a process of root
 * if the pool belongs to another user. Root's rights must not handle what that user may have put
 * into the pool. Make the call as that user.
 * Writes everything that changed to lower, except names whose drain mode is never (cairn/tier.h).
 * Other processes may go on working meanwhile: a file that changes while it is copied is copied
 * again. The drain removes names from lower only if it could write everything else, and no name has
 * changed meanwhile; else the next drain does. It puts files that several nodes write
 * (cairn/adapter/shared.h) together in lower: it writes this node's bytes, and the last node that
 * does so gives the file its name. It leaves those files alone while other processes of this node
 * are in the cover. If the directory is not the covered one, the drain writes nothing: -ESTALE.
 * Returns 0 only if nothing failed and no conflict is left. Otherwise returns -EIO, -ENOSPC (found
 * before copying, or on the way), -ECANCELED (progress said so) or -EAGAIN. -EAGAIN: only other
 * nodes' parts are missing, or such files were left alone; cairn_last_error names the nodes. The
 * details are in `report`, which is always filled in, and go to `problem`. The call is safe to
 * repeat after any interruption. */
CAIRN_API int cairn_cover_drain(cairn_cover* cover, cairn_progress progress,
                                cairn_drain_problem problem, void* context,
                                cairn_drain_report* report);
/* What a drain leaves alone because programs are still at work on it. */
typedef struct cairn_while_running {
  uint32_t struct_size; /* sizeof(cairn_while_running) */
  uint32_t open_too;    /* nonzero: open files of mode async count as well, once quiet */
  uint64_t quiet_ns;    /* a file is quiet once it has not changed for so long */
  /* Filled in: regular files that were left to a later drain, and what that would write. */
  uint64_t postponed_files;
  uint64_t postponed_bytes;
  /* The drain mode of the cover (enum cairn_drain_mode): of names that have none, nor a directory
   * with one. CAIRN_DRAIN_INHERIT: async if open_too is set, else close. */
  uint32_t mode;
  uint32_t at_end; /* nonzero: the run is over; what has the mode exit is drained as well */
} cairn_while_running;
/* Drains as cairn_cover_drain does, but only what has the mode close or async, and regular files
 * only if they are quiet and no process has them open or mapped. Of files that several nodes write,
 * it writes this node's bytes to DIR/.cairn if the cover's mode is close or async; the files get
 * their names in DIR when the run ends. If something is left to a later drain, a name changes
 * meanwhile, or the cover's mode is exit or never, no name is removed from lower: a file may have
 * been moved from there. Errors as cairn_cover_drain, and -EINVAL (struct_size, mode). Returns 0 if
 * all that is quiet is drained. */
CAIRN_API int cairn_cover_drain_while_running(cairn_cover* cover, cairn_while_running* what,
                                              cairn_progress progress, cairn_drain_problem problem,
                                              void* context, cairn_drain_report* report);
/* For a process that drains in the background while programs run. cairn_room_promise says that the
 * process looks, in the next 15 seconds, at calls that find the pool full. Such a call then waits
 * for the drain and evicts what was drained, for 60 seconds at most, instead of failing with
 * ENOSPC. Returns a request, or 0 if no call waits. The process drains what it can and answers the
 * request with cairn_room_answer. cairn_room_end takes the promise back. */
CAIRN_API uint64_t cairn_room_promise(cairn_pool* pool);
CAIRN_API void cairn_room_answer(cairn_pool* pool, uint64_t request);
CAIRN_API void cairn_room_end(cairn_pool* pool);
/* Drains to a directory other than the covered one, which is gone. `elsewhere` exists, and need not
 * be empty: nothing there is replaced. A name that exists there counts as done if it is the same as
 * the pool's, and is a conflict otherwise. What the pool does not hold cannot be written; `problem`
 * gets each such name. If `elsewhere` is the covered directory, which was moved there, it is
 * drained as by cairn_cover_drain. The same holds for a copy of the covered directory that now has
 * its path. The cover stays. */
typedef struct cairn_drain_to_report {
  uint32_t struct_size; /* sizeof(cairn_drain_to_report) */
  uint32_t is_covered;  /* nonzero: `elsewhere` is the covered directory itself */
  uint32_t is_lost;     /* nonzero: the path of the cover leads to no directory or another one */
  cairn_drain_report drained;
  uint64_t missing;       /* files that were only read, and directories that were not listed */
  uint64_t missing_parts; /* parts of files that several nodes write */
} cairn_drain_to_report;
/* Returns as cairn_cover_drain does; also -EBUSY (processes still use the cover) and -ELOOP
 * (`elsewhere` is covered itself, or is in a pool). */
CAIRN_API int cairn_cover_drain_to(cairn_cover* cover, const char* elsewhere,
                                   cairn_progress progress, cairn_drain_problem problem,
                                   void* context, cairn_drain_to_report* report);
/* Ends the cover: removes its pool directory (drained or not) and the claim, and closes the handle.
 * If this node holds a part of a file that is not in lower, that file can never be whole again.
 * Such files are removed on all nodes. On failure the handle stays: -EBUSY while other processes
 * are in the cover. */
CAIRN_API int cairn_cover_discard(cairn_cover* cover);
/* Ends the cover if everything is drained, as cairn_cover_discard does. -EAGAIN if something has
 * changed since. */
CAIRN_API int cairn_cover_end(cairn_cover* cover);

/* Frees a directory whose cover is lost with its pool: removes a claim that is void. -ENOENT: the
 * directory has no claim. -EBUSY: the claim's pool is here, or may be on another host or in another
 * container. cairn_last_error then names host, job and pool. `forced`: the caller knows that the
 * pool is nowhere else; only a pool that is here still counts. */
CAIRN_API int cairn_cover_free_claim(const char* directory, int forced);

/* Another pool, mostly of another host, that may hold data for a directory which the directory does
 * not have yet. */
typedef struct cairn_cover_other {
  uint32_t struct_size;
  uint8_t uuid[16];
  const char* host;
  const char* pool; /* its path there */
  const char* job;  /* "" if none was given */
} cairn_cover_other;
/* Calls visit for each other pool that has claimed the directory. Such a pool belongs to the same
 * job, or to an earlier one that was not drained. A process that does not reach these pools does
 * not see what they hold. */
typedef void (*cairn_cover_visit_other)(void* context, const cairn_cover_other* other);
CAIRN_API int cairn_cover_others(cairn_pool* pool, const char* directory,
                                 cairn_cover_visit_other visit, void* context);

typedef struct cairn_cover_info {
  uint32_t struct_size;     /* the library's sizeof; later versions add fields at the end */
  uint32_t all_drained;     /* nonzero: the directory has all of the cover, removals included */
  uint64_t undrained_bytes; /* of files not yet drained; 0, too, if only names or modes are not */
  const char* directory;    /* the real path of the covered directory */
  const char* job;          /* "" if none was given */
  uint64_t parts; /* parts of shared files held here; undrained_bytes counts their bytes */
  uint64_t undrained_files; /* regular files that are not drained; parts are not among them */
  uint64_t drain_begun_ns;  /* since 1970: when a drain began that has not ended; 0: none. Unless
                             * the cover is in use, that drain was killed or stopped */
  uint32_t in_use;    /* nonzero: a run is under way (cairn_cover_hold), or processes are in it */
  uint32_t modes;     /* 1 << mode for each drain mode that a file or directory has as its own */
  const char* oldest; /* the undrained file that changed least recently: its path; or "" */
  uint64_t oldest_changed_ns; /* since 1970: when that file changed */
  uint64_t left_out; /* files of drain mode never that differ from the directory's, or are new */
  uint64_t renamed_files; /* files whose bytes the directory has under another name, under which the
                           * pool had them before; not among undrained_files */
  /* Names that a drain mode never keeps out of the directory which no program of a run has set: the
   * directory had it already. Then the path of the file or directory that has the mode, or "". */
  uint64_t kept_back;
  const char* kept_back_by;
} cairn_cover_info;

/* Calls visit for each regular file of a cover that is not drained, until visit returns nonzero.
 * visit gets the file's path below the directory, the bytes that a drain would write, and whether
 * the directory has an older file of that name. Parts of files that several nodes write are not
 * among them. */
typedef int (*cairn_cover_visit_file)(void* context, const char* path, uint64_t bytes,
                                      int is_older_there);
CAIRN_API int cairn_cover_undrained(cairn_pool* pool, const char* directory,
                                    cairn_cover_visit_file visit, void* context);

/* Calls visit for each cover that a pool holds. info and its texts are valid during the call
 * only. */
typedef void (*cairn_cover_visit)(void* context, const cairn_cover_info* info);
CAIRN_API int cairn_cover_list(cairn_pool* pool, cairn_cover_visit visit, void* context);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_COVER_H */
