/* Tiers: where the bytes of a covered file lie, and when they move.
 *
 * A file of a covered directory (cairn/cover.h), DIR, lies in the pool, in DIR, or in both. This
 * header is all there is to see that and to decide it: residency, stage, evict, drain, wait, and
 * the drain mode. A program that runs under `cairn run` joins the run's cover by cairn_tier_join().
 * Other programs attach a pool and call cairn_cover_join().
 *
 *   cairn_pool* pool;
 *   cairn_cover* cover;
 *   cairn_residency r = {.struct_size = sizeof r};
 *   cairn_tier_join(&pool, &cover);
 *   cairn_tier_stage(cover, "input/mesh");          // into the pool, before it is read often
 *   write_checkpoint("checkpoint/7");
 *   cairn_tier_drain(cover, "checkpoint/7");        // now it is in DIR
 *   cairn_tier_evict(cover, "checkpoint/7", NULL);  // and takes no room in the pool
 *   cairn_tier_residency(cover, "checkpoint/7", &r);
 *   cairn_cover_close(cover);
 *   cairn_pool_detach(pool);
 *
 * Conventions as in cairn/cairn.h: 0 or a NEGATIVE errno, and cairn_last_error(). A path is
 * relative to DIR, or absolute and at or below it. Symbolic links are followed, in DIR only:
 * -EXDEV. Files that several nodes write through MPI-IO have no residency of their own: -ENOENT.
 * All calls may be made at any time, also while other processes use the file.
 *
 *  - Files move whole. A lazy file has its bytes in DIR only: it was imported and not changed, or
 *    it was evicted. Cairn reads it there, and stages it when it is written, cut, mapped, linked or
 *    renamed. Reading fails with -ESTALE if somebody has changed or removed it in DIR.
 *  - A file is drained if DIR has its bytes under its name, synced. Only drained files are evicted.
 *  - A call that finds the pool full evicts drained files, the longest unused first, before it
 *    fails with -ENOSPC.
 */
#ifndef CAIRN_TIER_H
#define CAIRN_TIER_H

#include "cairn/cairn.h"

/* The extended attribute that holds the drain mode of a file or directory: exit, close, async or
 * never. Any call for extended attributes may set it; another value is refused with -EINVAL. */
#define CAIRN_DRAIN_ATTRIBUTE "user.cairn.drain"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_cover cairn_cover;

/* Joins the cover of the `cairn run` that this process runs under. Attaches the run's pool: a
 * process that uses covered files as well then takes two lanes of it. The caller closes the cover
 * and detaches the pool; until then the run does not end. A child of fork() joins anew.
 * Errors: -ENOENT (the process runs under no `cairn run`, or the run's cover has ended); those of
 * cairn_pool_attach() and cairn_cover_join(). */
CAIRN_API int cairn_tier_join(cairn_pool** pool, cairn_cover** cover);

typedef struct cairn_residency {
  uint32_t struct_size;     /* set by the caller; fields beyond it are not filled in */
  uint32_t is_drained;      /* nonzero: DIR has the file's bytes */
  uint64_t size;            /* of the file */
  uint64_t pool_bytes;      /* room that it takes in the pool */
  uint64_t lower_bytes;     /* that lie in DIR only: `size` of a lazy file, else 0 */
  uint64_t undrained_bytes; /* that a drain would write; 0 also in mode never */
} cairn_residency;
/* Says where a regular file's bytes lie. Looks at DIR only for files in a directory that a drain
 * has made there and not finished. Errors: -ENOENT, -EXDEV, -EINVAL (not a regular file, or
 * struct_size). */
CAIRN_API int cairn_tier_residency(cairn_cover* cover, const char* path,
                                   cairn_residency* residency);

/* Copies a lazy file into the pool, which needs room for the whole file; returns 0 also if the file
 * is there. Errors: as cairn_stage(). */
CAIRN_API int cairn_tier_stage(cairn_cover* cover, const char* path);
/* Releases the room in the pool of a file that DIR has as well. `bytes` and errors: as
 * cairn_evict(). */
CAIRN_API int cairn_tier_evict(cairn_cover* cover, const char* path, uint64_t* bytes);
/* Writes a file to DIR, now, and the directories on its path; returns 0 also if it is drained.
 * Waits for a drain that is under way. Names that were removed stay in DIR until the next whole
 * drain. Errors: -EPERM (its mode is never), -EBUSY (it is mapped, is being written all the time,
 * or has more than one name), -EIO (also: DIR has another file under its name), -ENOSPC, and those
 * of cairn_cover_drain(). */
CAIRN_API int cairn_tier_drain(cairn_cover* cover, const char* path);
/* Waits until a file is drained, or, with `path` NULL, until the cover is: removals, too. Does not
 * drain: a keeper does (`cairn run --drain close` or `async`), or another process. timeout_ms: 0
 * looks once, UINT32_MAX waits without end. Errors: -ETIMEDOUT, -EPERM (the file's mode is never),
 * and as cairn_tier_residency(). */
CAIRN_API int cairn_tier_wait(cairn_cover* cover, const char* path, uint32_t timeout_ms);

/* When a file is drained. A file without a mode has that of the nearest directory above it, and at
 * the top that of the run (`cairn run --drain`). */
enum cairn_drain_mode {
  CAIRN_DRAIN_INHERIT = 0, /* no mode of its own */
  CAIRN_DRAIN_EXIT = 1,    /* when the run ends */
  CAIRN_DRAIN_CLOSE = 2,   /* while it goes on, too, when no process has the file open */
  CAIRN_DRAIN_ASYNC = 3,   /* also while it is open */
  CAIRN_DRAIN_NEVER = 4    /* not at all: the file goes with the cover, and counts as drained */
};
/* Returns the mode of a file, or of what lies below a directory, as a number above; INHERIT: that
 * of the run. `own`, unless NULL, gets the mode that the name has itself. Errors: -ENOENT,
 * -EXDEV. */
CAIRN_API int cairn_tier_get_mode(cairn_cover* cover, const char* path, enum cairn_drain_mode* own);
/* Gives a file or directory a mode of its own; INHERIT takes it away. Counts as a change of the
 * file. Modes close and async need a keeper, which `cairn run` starts where the run's mode, or a
 * mode in DIR, asks for it when the run begins. Otherwise they work as exit. Errors: -EINVAL (not
 * one of the modes; not a regular file or directory), -ENOENT, -EXDEV, -ENOSPC, -EROFS. */
CAIRN_API int cairn_tier_set_mode(cairn_cover* cover, const char* path, enum cairn_drain_mode mode);

/* ---- by number, as adapters know a file ---- */

/* Stages a file. Takes `ino` and `generation` as cairn_truncate does; so does cairn_evict().
 * Errors: -ESTALE (the number means another file, or the file in DIR was changed or removed),
 * -ENOSPC, -EINVAL (not a regular file), -EROFS, -EIO, and errors of DIR. */
CAIRN_API int cairn_stage(cairn_pool* pool, cairn_ino ino, uint64_t generation);
/* Evicts a file; returns 0 also if the file is lazy. `bytes`, unless NULL, gets how much of the
 * pool the file took. Other files can use that room once all processes that were reading it are
 * done. The call opens the file in DIR and reads none of it. Errors: -EBUSY (it is not
 * drained, was changed since, is mapped or viewed, has more than one name, lies in no covered
 * directory, or a process is writing to it), -EAGAIN (another process holds a lock of the file: try
 * again), -ENOSPC (what the pool keeps for such changes is in use: try again), -EOPNOTSUPP (an
 * earlier version of Cairn created the pool), -ESTALE (as above), -EINVAL (not a regular file),
 * -EACCES (this process cannot read it in DIR), -EROFS, and errors of DIR. */
CAIRN_API int cairn_evict(cairn_pool* pool, cairn_ino ino, uint64_t generation, uint64_t* bytes);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_TIER_H */
