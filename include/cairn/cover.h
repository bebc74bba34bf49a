/* Covering a directory: a directory of the pool stands in for a directory of the system ("lower").
 *
 * While it is covered, names and contents come from the pool; what lay in lower before is imported
 * lazily (a directory's names when it is first entered, a file's bytes when it is first written;
 * until then they are read from lower). Draining carries what changed back: each file is written to
 * a name aside, compared, and renamed. Conventions as in cairn/cairn.h.
 */
#ifndef CAIRN_COVER_H
#define CAIRN_COVER_H

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_cover cairn_cover;

struct cairn_cover_info;
/* Called with one line about something that happened to a cover without being asked for. */
typedef void (*cairn_cover_notice)(void* context, const char* text);

typedef struct cairn_cover_options {
  uint32_t struct_size; /* sizeof(cairn_cover_options) */
  uint32_t keep;        /* nonzero: the data stay in the pool when the job ends (--drain never) */
  const char* job;      /* the launcher's job id, or NULL */
  /* The rest may be missing (struct_size). */
  uint32_t fresh; /* nonzero: begin anew, see below */
  uint32_t reserved;
  const char* launch; /* what the processes of one launcher's call have in common, or NULL */
  void (*left)(void* context, const struct cairn_cover_info* info); /* or NULL */
  void* context;                                                    /* for left */
  cairn_cover_notice notice;                                        /* or NULL */
  void* notice_context;
} cairn_cover_options;

/* Covers `directory` (resolved to its real path) with a directory of the pool, or joins a cover of
 * the same job, or of the same host and pool. The claim is a file in `directory`, `.cairn-claim`,
 * of which only one can come to be; a claim of this host is void when its pool is gone, or unused
 * (by processes and by cairn_cover_hold) and drained.
 * `fresh`: what an earlier run left in the pool for the directory is discarded, as by
 * cairn_cover_discard; the directory's own files and the claim stay. Not while the cover is in use:
 * then it is joined. What runs of the same launch left is not an earlier run's. `left` is called
 * before, with what is there: it is about to be discarded unless info->in_use says otherwise.
 * A token in the claim and in the pool says which directory is covered, so that one that was
 * removed and created again is not taken for it. If the claim is missing, a directory on a local
 * file system is recognised by device, inode and time of creation, and gets its claim again;
 * `notice` is told. There a copy of the directory with its claim (cp -a) is another directory. If
 * it is another directory, the old cover is dropped where everything is drained; `notice` is told.
 * Errors: -ENOENT, -ENOTDIR, -ELOOP (it lies in a pool or in another cover), -EBUSY (claimed by
 * another job; cairn_last_error names its host and job), -ESTALE (another directory than the
 * covered one, for which the pool keeps data; cairn_last_error names them), -EEXIST (it was covered
 * by another path and moved here; the pool keeps data for it), -EACCES, -EROFS. */
CAIRN_API int cairn_cover_open(cairn_pool* pool, const char* directory,
                               const cairn_cover_options* options, cairn_cover** cover);
/* For processes inside a run: joins a cover that exists. -ENOENT if there is none. */
CAIRN_API int cairn_cover_join(cairn_pool* pool, const char* directory, cairn_cover** cover);
/* For cairn_cover_drain_to and cairn_cover_discard: joins also if the directory is gone, or another
 * one by now. If it is gone, `directory` is its real path. -ENOENT if the pool has no such cover.
 */
CAIRN_API int cairn_cover_join_kept(cairn_pool* pool, const char* directory, cairn_cover** cover);
CAIRN_API void cairn_cover_close(cairn_cover* cover);
/* For who runs programs in a cover: a descriptor (without FD_CLOEXEC). Until all its copies are closed, the
 * cover's claim is not void although nobody may be attached to the pool, he included. */
CAIRN_API int cairn_cover_hold(const cairn_cover* cover);

/* The pool directory that stands for it, and the real path of the covered directory. */
CAIRN_API cairn_ino cairn_cover_top(const cairn_cover* cover);
CAIRN_API const char* cairn_cover_path(const cairn_cover* cover);

typedef struct cairn_drain_report {
  uint64_t files; /* written to lower */
  uint64_t bytes;
  uint64_t removed; /* names removed from lower */
  uint64_t directories;
  uint64_t conflicts; /* changed in lower behind our back: both kept, nothing overwritten */
  uint64_t failed;    /* other errors; the data are still in the pool */
  uint64_t
      waiting; /* files that several nodes write, of which other nodes' parts are not there yet */
} cairn_drain_report;

/* Called for each file that could not be drained, with one line that names path and cause. */
typedef void (*cairn_drain_problem)(void* context, const char* text);

/* This call, and those below that drain, discard or end a cover, return -EPERM in a process of root
 * if the pool belongs to another user: what that user may have put into it is not done with root's
 * rights. Do it as that user.
 * Carries everything that changed to lower. Others may go on working meanwhile: a file that changes
 * while it is copied is done again. Names are removed from lower only when everything else could be
 * carried over. Files that several nodes write (adapter/shared.h) are put together in lower: this
 * node's bytes are written, and the last node that does so gives the file its name; they are left
 * alone while other processes of this node are in the cover. If the directory is not the covered
 * one, nothing is written: -ESTALE. Returns 0 only if nothing failed and no conflict is left, else
 * -EIO, -ENOSPC (told before copying, or met on the way), -ECANCELED (progress said so) or -EAGAIN
 * (only other nodes' parts are missing, or such files were left alone; cairn_last_error names the
 * nodes), with the details in report (filled in always) and problems. Safe to repeat after any
 * interruption. */
CAIRN_API int cairn_cover_drain(cairn_cover* cover, cairn_progress progress,
                                cairn_drain_problem problem, void* context,
                                cairn_drain_report* report);
/* Drains to another directory than the covered one, which is gone. `elsewhere` exists, and need not
 * be empty: nothing there is replaced. A name that is there already counts as done if it is the
 * same as the pool's, and is a conflict otherwise. What the pool does not hold cannot come;
 * `problem` is told each such name. If `elsewhere` is the covered directory, which has been moved
 * there, it is drained as by cairn_cover_drain; so is a copy of it that has its path by now. The
 * cover stays. */
typedef struct cairn_drain_to_report {
  uint32_t struct_size; /* sizeof(cairn_drain_to_report) */
  uint32_t is_covered;  /* nonzero: `elsewhere` is the covered directory itself */
  uint32_t is_lost; /* nonzero: the path of the cover leads to no directory, or to another one */
  cairn_drain_report drained;
  uint64_t missing;       /* files that were only read, and directories that were not listed */
  uint64_t missing_parts; /* parts of files that several nodes write */
} cairn_drain_to_report;
/* Returns as cairn_cover_drain does; -EBUSY: processes still use the cover; -ELOOP: `elsewhere` is
 * covered itself, or lies in a pool. */
CAIRN_API int cairn_cover_drain_to(cairn_cover* cover, const char* elsewhere,
                                   cairn_progress progress, cairn_drain_problem problem,
                                   void* context, cairn_drain_to_report* report);
/* Ends the cover: removes its pool directory (drained or not) and the claim, and closes the handle. Files of which
 * this node holds a part that is not in lower can never be whole again: they go, on all nodes.
 * On failure the handle stays: -EBUSY while other processes are in it. */
CAIRN_API int cairn_cover_discard(cairn_cover* cover);
/* The same once everything is drained: -EAGAIN if something has changed since. */
CAIRN_API int cairn_cover_end(cairn_cover* cover);

/* Frees a directory whose cover is lost with its pool: removes a claim that is void. -ENOENT: it has no claim; -EBUSY
 * (cairn_last_error names host, job and pool): its pool is here, or may be on another host or in another container.
 * `forced`: the caller knows that it is nowhere else; only one that is here still counts. */
CAIRN_API int cairn_cover_free_claim(const char* directory, int forced);

/* Another pool, of another host mostly, that may hold something for a directory that is not in it yet. */
typedef struct cairn_cover_other {
  uint32_t struct_size;
  uint8_t uuid[16];
  const char* host;
  const char* pool; /* its path there */
  const char* job;  /* "" if none was given */
} cairn_cover_other;
/* Calls visit for each that has claimed the directory beside this one: of the same job, or of one before that was not drained. Who does not
 * reach them does not see what they hold. */
typedef void (*cairn_cover_visit_other)(void* context, const cairn_cover_other* other);
CAIRN_API int cairn_cover_others(cairn_pool* pool, const char* directory,
                                 cairn_cover_visit_other visit, void* context);

typedef struct cairn_cover_info {
  uint32_t struct_size; /* of the library that fills it in; later versions add fields at the end */
  uint32_t
      all_drained; /* nonzero: directory has everything that the cover has, removals included */
  uint64_t undrained_bytes; /* of files not yet drained; 0 too where only names or modes are not */
  const char* directory;    /* the real path of the covered directory */
  const char* job;          /* "" if none was given */
  uint64_t
      parts; /* of files that several nodes write, held here; undrained_bytes counts their bytes */
  uint64_t undrained_files; /* regular files that are not drained; parts are not among them */
  uint64_t drain_begun_ns;  /* since 1970: when a drain began that has not come to its end; 0: none.
                             * Unless the cover is in use, it was killed or stopped */
  uint32_t in_use; /* nonzero: a run is under way (cairn_cover_hold), or processes are in it */
  uint32_t reserved;
} cairn_cover_info;

/* Calls visit for each regular file of a cover that is not drained, until that returns nonzero:
 * with its path below the directory, the bytes that a drain would write, and whether the directory
 * has something older under that name. Parts of files that several nodes write are not among them.
 */
typedef int (*cairn_cover_visit_file)(void* context, const char* path, uint64_t bytes,
                                      int is_older_there);
CAIRN_API int cairn_cover_undrained(cairn_pool* pool, const char* directory,
                                    cairn_cover_visit_file visit, void* context);

/* Covers that a pool holds, one call each; info and its texts are valid during the call only. */
typedef void (*cairn_cover_visit)(void* context, const cairn_cover_info* info);
CAIRN_API int cairn_cover_list(cairn_pool* pool, cairn_cover_visit visit, void* context);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_COVER_H */
