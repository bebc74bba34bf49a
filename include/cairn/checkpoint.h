/* Checkpoints: named arrays of all ranks, written as versions of which each exists as a whole.
 *
 * A program defines its arrays once, writes versions, and after a restart reads the newest one that
 * is complete and verified, on any number of ranks. docs/format/checkpoint.md says what lies on the
 * medium, docs/user/checkpoints.md how to use it.
 *
 *   cairn_checkpoint_info info = {sizeof info};
 *   check(cairn_checkpoint_init("field", communicator, NULL, &cp));
 *   check(cairn_checkpoint_define(cp, "t", &array, &block, NULL));
 *   if (check(cairn_checkpoint_restart_test(cp, CAIRN_CHECKPOINT_LATEST, &info)) == 1)
 *     check(cairn_checkpoint_read(cp, CAIRN_CHECKPOINT_LATEST, 0, &info));
 *   for (step = info.step + 1; step <= steps; ++step) {
 *     compute();
 *     if (check(cairn_checkpoint_need(cp, step)) == 1) check(cairn_checkpoint_write(cp, step));
 *   }
 *   check(cairn_checkpoint_finalize(cp));
 *
 * check() ends the program with cairn_last_error() if its argument is negative, else returns it.
 *
 * Conventions as in cairn/cairn.h: 0, a count or a NEGATIVE errno, and cairn_last_error(), which
 * names variable and ranks. Structures begin with struct_size, set by the caller; fields beyond it
 * count as zero. Times are nanoseconds, sizes bytes. Texts given are copied. A pointer that has to
 * be given and is NULL: -EFAULT.
 *
 * Processes. "Collective": all ranks call the function, in the same order, with arguments that mean
 * the same, and all get the same result. What is wrong on one rank fails on all, and the text names
 * that rank. A context is used by one thread at a time. Several contexts may exist concurrently,
 * with names of their own. A child of fork() has none. Neither `cairn run` nor a preloaded library
 * is needed. On one node cairn_checkpoint_init() with a communicator is the only function that
 * calls MPI. On several nodes the others do so as well, and finalize has to come before
 * MPI_Finalize. A context is then used by the thread that may call MPI, and MPI_THREAD_FUNNELED is
 * enough.
 *
 * Progress. Nothing moves between nodes outside calls of this header. A commit of several nodes
 * goes on in iwrite, test, wait, need and finalize. A job killed before such a call keeps the
 * version before.
 *
 * Guarantees
 *  - A version exists for all ranks or for none, whenever processes are killed or power is lost.
 *  - A version is never overwritten before a newer one is committed, and never for lack of space. A
 *    checkpoint that fails changes neither the run nor an earlier version.
 *  - No level is reported before it is reached.
 *  - A restart verifies all bytes that it needs before it stores to an array of the program.
 *  - A call that does not say "waits" waits for no other rank.
 *
 * This release has the levels STAGED, LOCAL and GLOBAL, and on several nodes PARTNER.
 */
#ifndef CAIRN_CHECKPOINT_H
#define CAIRN_CHECKPOINT_H

#include <limits.h>

#include "cairn/cairn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_checkpoint cairn_checkpoint;
/* A handle names one attempt to write a version in this context; it is never 0. */
typedef uint64_t cairn_checkpoint_handle;

/* Given as the communicator: the program does not use MPI. */
#define CAIRN_NO_COMMUNICATOR INT_MIN
/* Given as a version's number: the newest version that is complete and verified. */
#define CAIRN_CHECKPOINT_LATEST INT64_MIN
#define CAIRN_MAX_DIMENSIONS 15

/* Levels are named by the event that a version survives. Each contains those before it. */
enum cairn_checkpoint_level {
  CAIRN_LEVEL_STAGED = 1,  /* this rank's bytes are copied: its buffers may change */
  CAIRN_LEVEL_LOCAL = 2,   /* committed: all processes of the job may die */
  CAIRN_LEVEL_PARTNER = 3, /* and copied to nodes of other failure domains: a node may be lost */
  CAIRN_LEVEL_GLOBAL = 4   /* copied to lower, synced and read back: all pools may be lost */
};
/* Bits that say what a version survives now. POWER needs a medium that persists: on tmpfs it is not
 * set. */
#define CAIRN_SURVIVES_PROCESSES 1U
#define CAIRN_SURVIVES_POWER 2U
#define CAIRN_SURVIVES_NODE 4U
#define CAIRN_SURVIVES_POOLS 8U

/* ---- a context ------------------------------------------------------------------------------ */

/* Begins a new line: versions that exist are not continued, and LATEST finds none of them. In the
 * pool they, and what is damaged, are dropped after the first commit; until then they can be read
 * by number. Copies in lower stay until the new line has its first version there (GLOBAL). Then
 * those of the line before stay as long as this line is the newest, and older lines are removed.
 * `cairn ckpt restore --earlier` gets the line before back. */
#define CAIRN_CHECKPOINT_FRESH 1U
/* The context only looks at a set, as tools do. It begins no run, so another run may use the set
 * meanwhile. Such a context belongs to one process. It allows list, variables, read_var, verify,
 * drop and finalize; the other calls return -EINVAL. It knows the versions that were there at init
 * or at the last drop. The version that it read last is not overwritten until it reads another one.
 */
#define CAIRN_CHECKPOINT_LOOK 2U
/* SIGTERM, SIGUSR1 and SIGUSR2 no longer end the process: should_exit() says that one came.
 * Handlers that the program has are called, too. */
#define CAIRN_CHECKPOINT_SIGNALS 4U
/* On several nodes the pool of each node holds a copy of another node's part of a version. write,
 * commit, finalize and wait for PARTNER make the copies. Nodes of one failure domain do not hold
 * copies of each other's parts. The domain is the value of the configuration key checkpoint.domain
 * (CAIRN_CHECKPOINT_DOMAIN) or, if it is not set, the host's name. If no node can hold a copy, the
 * run goes on without copies; progress and wait for PARTNER return -EOPNOTSUPP. */
#define CAIRN_CHECKPOINT_PARTNER 8U
/* All reads are made as with CAIRN_READ_CYCLIC, and restart_test says whether such a read is
 * possible. */
#define CAIRN_CHECKPOINT_CYCLIC 16U
/* Versions are copied to options.lower while the program goes on, by a thread of the lowest rank of
 * each node, which calls no MPI. It copies one version at a time. On one node the newest committed
 * one is next. On several nodes it is the next that is committed when all nodes have copied their
 * parts of the one before. test, progress and the observer say when a version is at GLOBAL; of one
 * that was passed over test says 0, and wait copies it. finalize copies the newest version, as
 * without the flag. The bytes of a version that is being copied stay in the pool, which needs room
 * for one version more. -EINVAL from init: options.lower is not set. */
#define CAIRN_CHECKPOINT_BACKGROUND 32U
/* Each copy to lower removes the copies of lines before the newest one. With FRESH these stay until
 * the new line has its first version there. The flag also works in a context that looks, for
 * drain(). */
#define CAIRN_CHECKPOINT_DROP_COPIES 64U

/* All ranks give the same options, except pool and rank. All fields may be 0. */
typedef struct cairn_checkpoint_options {
  uint32_t struct_size;
  uint32_t flags;           /* CAIRN_CHECKPOINT_... */
  cairn_pool* pool;         /* attached until after finalize; NULL: see cairn_checkpoint_init() */
  const char* code_version; /* stored with each version, at most 63 bytes; or NULL */
  /* Only with CAIRN_NO_COMMUNICATOR, for processes of one node: */
  uint32_t rank;
  uint32_t ranks;      /* at most 1024; 0 and 1: this process alone */
  const char* job;     /* with ranks > 1: a text that these processes have and no others now */
  uint32_t timeout_ms; /* how long init waits for the other ranks; 0: 60 s */
  /* A version is kept if one of the next three fields names it: */
  uint32_t keep;           /* the newest n; 0: 2 */
  uint64_t keep_multiple;  /* those whose number is a multiple; 0: none */
  uint64_t keep_period_ns; /* the newest of each period since 1970; 0: none */
  uint64_t interval_ns;    /* need() returns 1 this long after a version began; 0: never */
  /* LATEST skips a version after this many runs that restarted from it and died; 0: 5. A run does
   * not count if `cairn run` saw that SIGKILL or SIGTERM ended it, or if SIGTERM came with
   * CAIRN_CHECKPOINT_SIGNALS. The library alone cannot see a SIGKILL: without `cairn run` it
   * counts. */
  uint32_t max_attempts;
  uint32_t block_size; /* of checksums: 256 KiB, 512 KiB or 1 MiB; 0: 1 MiB */
  /* A directory that exists and outlives the nodes, or NULL. On several hosts all name the same
   * one. init gets the newest version back from there if the pools have only older ones or none, or
   * lack parts of the newest one. finalize copies the newest version there. init fails if the
   * directory has versions and none can be read, unless the run is FRESH. */
  const char* lower;
  uint32_t lower_keep; /* versions that stay in lower; 0: 2 */
  /* With CAIRN_CHECKPOINT_BACKGROUND: only versions whose number is a multiple of it; 0: all. */
  uint32_t lower_multiple;
  const char* halt_file;   /* should_exit() returns 1 once it exists; or NULL */
  uint64_t end_time_ns;    /* of the job, since 1970; 0: SLURM_JOB_END_TIME, if that is set */
  uint64_t exit_margin_ns; /* what the program needs besides a last checkpoint */
  uint64_t mtbf_ns;        /* mean time between failures of the job, for advice; 0: unknown */
} cairn_checkpoint_options;

/* Collective; waits. Opens the set `name` (1 to 64 of A-Z a-z 0-9 . _ -, not beginning with a dot)
 * in the pool, or creates it, and settles what a killed job left. `communicator`: a Fortran handle
 * (MPI_Comm_c2f), which may be freed afterwards, or CAIRN_NO_COMMUNICATOR. options may be NULL.
 *
 * Without options->pool it is the pool of `cairn run`, where the process runs under it
 * (CAIRN_POOL). Else it is the pool that `cairn run` would use by the keys pool.* of cairn.yaml,
 * the environment (CAIRN_POOL_DIR, CAIRN_POOL_NAME, CAIRN_POOL_SIZE) and the defaults; it is
 * created if there is none, and if the context does not only look.
 *
 * Errors: -EINVAL (with MPI also if ranks name different sets); -EBUSY (another run uses the set;
 * the text names a process of it); -EUCLEAN (the set is damaged, or pools of several nodes have
 * different sets of this name); -EPROTONOSUPPORT (a newer format); -ETIMEDOUT, -EOWNERDEAD (ranks
 * did not come, or died; the text names them); -ENOSYS (a configuration file that only the command
 * can read); -ENODEV (another rank has no pool); -EROFS; -ENOSPC; -ENOPKG and others of
 * cairn_transport_join(); those of cairn_pool_attach() and cairn_pool_create(). */
CAIRN_API int cairn_checkpoint_init(const char* name, int communicator,
                                    const cairn_checkpoint_options* options,
                                    cairn_checkpoint** checkpoint);
/* Collective; waits until the last version is committed or has failed, and with
 * CAIRN_CHECKPOINT_PARTNER until the newest one has its copies. The context is released whatever
 * the result; versions stay. NULL is allowed. The error is that of the copies, or of a version
 * whose failure neither test, wait nor another collective call has returned yet (iwrite returns
 * this rank's own). */
CAIRN_API int cairn_checkpoint_finalize(cairn_checkpoint* checkpoint);

/* ---- what is written ------------------------------------------------------------------------- */

/* clang-format off */
enum cairn_type {
  /* begin: made from types.def by make_constants.py */
  CAIRN_TYPE_INT8 = 1,
  CAIRN_TYPE_INT16 = 2,
  CAIRN_TYPE_INT32 = 3,
  CAIRN_TYPE_INT64 = 4,
  CAIRN_TYPE_UINT8 = 5,
  CAIRN_TYPE_UINT16 = 6,
  CAIRN_TYPE_UINT32 = 7,
  CAIRN_TYPE_UINT64 = 8,
  CAIRN_TYPE_FLOAT16 = 9,
  CAIRN_TYPE_BFLOAT16 = 10,
  CAIRN_TYPE_FLOAT32 = 11,
  CAIRN_TYPE_FLOAT64 = 12,
  CAIRN_TYPE_FLOAT80 = 13, /* x87 extended in 16 bytes; the last six are stored as zero */
  CAIRN_TYPE_FLOAT128 = 14,
  CAIRN_TYPE_COMPLEX64 = 17, /* two FLOAT32 */
  CAIRN_TYPE_COMPLEX128 = 18, /* two FLOAT64 */
  CAIRN_TYPE_COMPLEX_FLOAT80 = 19, /* two FLOAT80 */
  CAIRN_TYPE_COMPLEX_FLOAT128 = 20, /* two FLOAT128 */
  CAIRN_TYPE_LOGICAL8 = 24, /* true: as the writing language has it */
  CAIRN_TYPE_LOGICAL16 = 25,
  CAIRN_TYPE_LOGICAL32 = 26,
  CAIRN_TYPE_LOGICAL64 = 27,
  CAIRN_TYPE_CHARACTER = 28, /* element_size bytes each, not terminated */
  CAIRN_TYPE_OPAQUE = 29 /* element_size bytes each: structures of the program */
  /* end: made from types.def */
};
/* clang-format on */

/* Without strides: the first dimension is contiguous, not the last. */
#define CAIRN_ARRAY_FORTRAN 1U

/* Describes an array of this process, including its halo. A scalar has 0 dimensions. */
typedef struct cairn_array {
  uint32_t struct_size;
  uint32_t type;         /* enum cairn_type */
  uint64_t element_size; /* of CHARACTER and OPAQUE, 1 to 2^31; others: 0 or the type's own */
  uint32_t dimensions;
  uint32_t flags;                       /* CAIRN_ARRAY_FORTRAN */
  void* base;                           /* element (0, ..., 0); NULL: no elements, or a getter */
  int64_t extent[CAIRN_MAX_DIMENSIONS]; /* elements */
  int64_t stride[CAIRN_MAX_DIMENSIONS]; /* bytes, may be negative; all 0: contiguous */
} cairn_array;

/* Kinds of a cairn_distribution. Those from RAGGED on are arrays of one dimension of which each
 * rank has any number of elements, another one in each version. A restart finds out how many a rank
 * gets: the getter is told by extent[0] and makes room. Without a getter the array has to have that
 * many (-EMSGSIZE). */
enum cairn_distribution_kind {
  /* begin: made from kinds.def by make_constants.py */
  /* All ranks hold the same; rank 0's is kept. */
  CAIRN_REPLICATED = 1,
  /* A box of a global array; counts are the extents less the halo. */
  CAIRN_BLOCK = 2,
  /* Block-cyclic: a global array dealt out to a grid of processes, as by MPI_Type_create_darray
   * and in ScaLAPACK. */
  CAIRN_DARRAY = 4,
  /* A list of values for each element of the integer variable `over`, in the order in which the
   * rank's memory has those; a rank gets those of its own. */
  CAIRN_RAGGED = 5,
  /* On another number of ranks they are dealt out in order of ranks, or with `over` and `key`
   * to the ranks whose block has their cells. */
  CAIRN_PARTICLES = 6,
  /* Rank r gets those of rank r; further ranks get none. */
  CAIRN_PER_RANK = 7
  /* end: made from kinds.def */
};
#define CAIRN_OWNER_LOWEST_RANK 1U /* whose elements count where boxes overlap */
#define CAIRN_OWNER_HIGHEST_RANK 2U

/* Says how a dimension of a DARRAY is dealt out to the P processes that the grid has along it.
 * Process p has the blocks p, p + P, p + 2 P and so on, one after the other in its array. */
enum cairn_distribute {
  CAIRN_DISTRIBUTE_BLOCK = 1,  /* one block each, of extent / P elements, rounded up */
  CAIRN_DISTRIBUTE_CYCLIC = 2, /* blocks in turn, of one element */
  CAIRN_DISTRIBUTE_NONE = 3    /* not at all: P is 1 */
};
#define CAIRN_RANKS_FORTRAN 1U /* in a grid of processes the first coordinate moves fastest */

/* Says how the ranks' arrays make up one variable. The boxes of all ranks tile the global array, or
 * with an owner rule overlap and cover it. A rank may have none (an extent of 0, less halo). */
typedef struct cairn_distribution {
  uint32_t struct_size;
  uint32_t kind;  /* enum cairn_distribution_kind */
  uint32_t owner; /* of BLOCK: CAIRN_OWNER_..., 0: boxes may not overlap */
  /* Of DARRAY: how ranks stand in the grid. 0: the last coordinate moves fastest, as with MPI and
   * BLACS's row-major grids; CAIRN_RANKS_FORTRAN: as with BLACS's column-major ones. */
  uint32_t rank_order;
  /* By dimension of the global array, slowest in a file first. REPLICATED: all 0 means the array's
   * extents. */
  int64_t global[CAIRN_MAX_DIMENSIONS];
  int64_t offset[CAIRN_MAX_DIMENSIONS]; /* of this rank's box, from 0 */
  /* By dimension of this process's array: */
  uint16_t halo_low[CAIRN_MAX_DIMENSIONS + 1];  /* elements before the box; not written */
  uint16_t halo_high[CAIRN_MAX_DIMENSIONS + 1]; /* behind it */
  /* The global dimension along which it runs; all 0: the same. */
  uint8_t axis[CAIRN_MAX_DIMENSIONS + 1];
  /* Names of defined variables, or NULL. RAGGED: how many values each of its elements has.
   * PARTICLES: the variable whose elements are the cells. */
  const char* over;
  /* PARTICLES: the variable of this kind, of integers, that says the cell of each particle: the
   * number of an element of `over` in the global array, from 0, the last dimension the fastest.
   * That variable has `over` and no key. A key that is the number of no cell: -EINVAL from write.
   */
  const char* key;
  /* DARRAY, by dimension of the global array. The grid's processes are all ranks. The array of this
   * process has the elements that it is dealt and no halo: as many as ScaLAPACK's NUMROC says, with
   * a first process (RSRC, CSRC) of 0. If an array has others, or the grid is not of all ranks,
   * the next write, restart_test or read fails on all ranks with -EINVAL and names the ranks. */
  uint32_t processes[CAIRN_MAX_DIMENSIONS + 1];
  uint32_t distribute[CAIRN_MAX_DIMENSIONS + 1]; /* enum cairn_distribute */
  int64_t block[CAIRN_MAX_DIMENSIONS];           /* elements of a block; 0: as said there */
} cairn_distribution;

#define CAIRN_ARRAY_TO_WRITE 1 /* the library is about to read the array */
#define CAIRN_ARRAY_TO_FILL 2  /* the library is about to store to it */
/* The getter says where an array is now: it sets array->base and the strides, and extent[0] of
 * RAGGED, PARTICLES and PER_RANK that are written. `array` comes as it was defined. The getter is
 * called inside write, iwrite and read by their thread, and must not call this API. A negative
 * errno ends the call on all ranks. */
typedef int (*cairn_array_getter)(void* context, int purpose, cairn_array* array);

/* An attribute of a variable or of a version. Keys follow the rules for names of variables, and
 * each occurs once. Tools understand "units" and "long_name" (CHARACTER), "dimensions" (CHARACTER:
 * a name for each dimension of the global array, slowest first, separated by blanks) and
 * "_FillValue" (one element). Export writes the others as they are. */
typedef struct cairn_attribute {
  const char* key;
  uint32_t type;  /* enum cairn_type */
  uint32_t count; /* values, at least 1; of CHARACTER and OPAQUE: bytes, of a text also 0 */
  const void* values;
} cairn_attribute;

#define CAIRN_OPTIONAL 1U /* a restart from a version without it is no error */
typedef struct cairn_definition {
  uint32_t struct_size;
  uint32_t flags;            /* CAIRN_OPTIONAL */
  cairn_array_getter getter; /* or NULL: the array stays where it is */
  void* context;
  const char* const* aliases; /* names that older versions have, tried in order */
  uint32_t alias_count;
  uint32_t reserved;
  const void* default_value;         /* one element, for what is missing; NULL: nothing is stored */
  const cairn_attribute* attributes; /* copied; the same on all ranks, 64 KiB at most */
  uint32_t attribute_count;
  uint32_t reserved2;
} cairn_definition;

/* Registers a variable. `name`: 1 to 255 bytes of UTF-8 without control characters, '/' and leading
 * dot. Memory that is registered must stay valid until undefine, finalize, or the next define of
 * the name, which replaces it. `distribution` NULL: REPLICATED, such as of a scalar. `more` may be
 * NULL. All ranks define the same names, and as often: the next write, restart_test or read
 * compares the definitions of all ranks, and fails with -EINVAL if they differ or do not tile. No
 * message is sent to other ranks, and the call does not wait for them. Errors: -EINVAL (unknown
 * type or kind, extents without room for the halo, box outside of the global array, blocks that do
 * not hold an array), -EOVERFLOW (beyond the limits of the format), -ENOSPC (the set has no version
 * to read, and what this rank has defined is more than its pool can ever hold; the text says both
 * sizes). A program that writes one version needs room for one, and a loop for keep + 1. Where the
 * pool has not that much, if all ranks of the node define as much as this one, define returns 0 and
 * cairn_last_error() is a text that begins with "warning: ". Else it is empty after a define that
 * returned 0. */
CAIRN_API int cairn_checkpoint_define(cairn_checkpoint* checkpoint, const char* name,
                                      const cairn_array* array,
                                      const cairn_distribution* distribution,
                                      const cairn_definition* more);
/* All ranks call it. Versions that exist keep the variable. -ENOENT. */
CAIRN_API int cairn_checkpoint_undefine(cairn_checkpoint* checkpoint, const char* name);
/* Sets the attributes of each version that is written from now on, such as the time of the model,
 * in place of those before. They are copied, 64 KiB at most. All ranks set the same: a version gets
 * those of the rank that comes first. -EINVAL, -E2BIG; the attributes before stay then. */
CAIRN_API int cairn_checkpoint_set_attributes(cairn_checkpoint* checkpoint,
                                              const cairn_attribute* attributes, uint32_t count);

/* ---- writing ------------------------------------------------------------------------------------
 * `version` is the user's number: any but CAIRN_CHECKPOINT_LATEST, and it may come again. What an
 * attempt that failed has written does not count. */

/* Collective; waits until the version is committed: iwrite(), then wait() for LOCAL, or for PARTNER
 * with CAIRN_CHECKPOINT_PARTNER where that is possible. An error whose text begins with "level
 * PARTNER" is that of the copies: the version is committed. Errors:
 * -EINVAL (definitions, or ranks that name different versions), -ENOSPC (the text of ranks on that
 * host says what a version takes and what the pool has; earlier versions stay), -EEXIST (the set
 * has versions, and this run has neither read one nor been told to leave them: FRESH), -ENODATA (a
 * variable has no memory), -EOWNERDEAD (a rank died; the version is aborted), -EIO. */
CAIRN_API int cairn_checkpoint_write(cairn_checkpoint* checkpoint, int64_t version);
/* Collective, without a wait for ranks that are less than one version behind; after a define it
 * waits for all. On return this rank's bytes are staged, and its arrays may change. Errors of this
 * rank are returned here; all ranks learn of them by test and wait. The last rank to hand over its
 * bytes commits the version; on several nodes their leaders do, the lowest rank of each, inside
 * their calls of this header. */
CAIRN_API int cairn_checkpoint_iwrite(cairn_checkpoint* checkpoint, int64_t version,
                                      cairn_checkpoint_handle* handle);

typedef struct cairn_checkpoint_progress {
  uint32_t struct_size;
  uint32_t level;       /* enum cairn_checkpoint_level, reached */
  uint32_t survives;    /* CAIRN_SURVIVES_... */
  int32_t error;        /* negative errno that keeps it from further levels, 0: none */
  uint64_t bytes;       /* of all ranks */
  uint64_t level_ns[5]; /* from the begin of iwrite to each level, by number; 0: not reached */
} cairn_checkpoint_progress;

/* These calls write data that are not registered: begin() a version, write_var() each further
 * variable, commit(). Registered variables are written too; write_var() of a registered name
 * replaces it for this version alone. Arrays must stay as they are until commit(). Arguments and
 * errors as those of define() and write(). All ranks call write_var() for the same names, so each
 * rank may hold nothing of an array, but not leave it out. commit() is collective and waits, also
 * for the ranks to agree on what the version has. A version that is begun and not committed costs
 * nothing: another begin() forgets it and its variables. */
CAIRN_API int cairn_checkpoint_begin(cairn_checkpoint* checkpoint, int64_t version);
CAIRN_API int cairn_checkpoint_write_var(cairn_checkpoint* checkpoint, const char* name,
                                         const cairn_array* array,
                                         const cairn_distribution* distribution,
                                         const cairn_definition* more);
CAIRN_API int cairn_checkpoint_commit(cairn_checkpoint* checkpoint);

/* Says whether `level` is reached: 1, 0, or the error that makes it impossible. `progress` may be
 * NULL. Does not wait. With CAIRN_CHECKPOINT_BACKGROUND also the error of a copy to lower, whose
 * text begins with "level GLOBAL": wait tries again. -EOPNOTSUPP: there is no such level in this
 * run. -ENOENT: no such handle; those of the last 4096 versions are known. */
CAIRN_API int cairn_checkpoint_test(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                                    uint32_t level, cairn_checkpoint_progress* progress);
/* Waits until the level is reached or impossible: 0, or that error. timeout_ms 0: without end;
 * -ETIMEDOUT. PARTNER and GLOBAL have no timeout: the call is collective then, and leaders copy
 * the version to their pools meanwhile, or each its own part to options.lower. -EINVAL: there
 * is no CAIRN_CHECKPOINT_PARTNER or options.lower. -EOPNOTSUPP: no node can hold copies; the text
 * says why. -ENOSPC, -EUCLEAN, -EIO: a node holds no copy, which the text names; the version is at
 * LOCAL as before, and wait may be called again. */
CAIRN_API int cairn_checkpoint_wait(cairn_checkpoint* checkpoint, cairn_checkpoint_handle handle,
                                    uint32_t level, uint32_t timeout_ms);

/* The observer is called when a version of this context reaches a level on this rank, or has
 * failed: inside write, iwrite, commit, test, wait and finalize, by their thread. It learns of a
 * copy that was made in the background in the first such call afterwards. It must not call this
 * API. */
typedef void (*cairn_checkpoint_observer)(void* context, cairn_checkpoint_handle handle,
                                          int64_t version,
                                          const cairn_checkpoint_progress* progress);
/* Sets the observer, in place of the one before; NULL: none. */
CAIRN_API int cairn_checkpoint_observe(cairn_checkpoint* checkpoint,
                                       cairn_checkpoint_observer observer, void* context);

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct cairn_checkpoint_info {
  uint32_t struct_size;
  uint32_t level;    /* reached */
  uint32_t survives; /* CAIRN_SURVIVES_... */
  uint32_t attempts; /* restarts from it that did not come to a commit */
  int64_t number;    /* the user's */
  int64_t step;      /* of the last need() before it, else the number */
  uint64_t sequence; /* order of commits */
  uint64_t parent;   /* sequence of the version that it continues; 0: none */
  uint64_t begun_ns; /* since 1970 */
  uint64_t bytes;    /* of all ranks */
  uint32_t ranks;
  uint32_t is_abandoned; /* not in the line of the newest version: never LATEST */
  uint32_t skipped;      /* after restart_test and read: newer versions that could not be had */
  uint32_t missing;      /* after restart_test and read: optional variables that it lacks */
  char code_version[64];
  char run[37];  /* uuid of the run that wrote it */
  char why[256]; /* what was wrong with one of those skipped, else why a copy was read, or "" */
  /* As set by cairn_checkpoint_set_attributes(), ascending by key. Valid inside visit, or until the
   * next call with this context. */
  const cairn_attribute* attributes;
  uint32_t attribute_count;
  uint32_t reserved;
  uint64_t verified_ns; /* when verify last found all bytes right, since 1970; 0: never */
  uint32_t copies;      /* that this node's pool holds of other nodes' parts */
  uint32_t from_copies; /* after restart_test and read: parts of which a copy was read */
} cairn_checkpoint_info;

/* Collective; waits. Can `version` be read into what is defined? 1, and info is filled in; 0: there
 * is none. -EEXIST, of LATEST: there are versions, and all are damaged or left out because of
 * max_attempts, as the text says; write() fails then, too. -EHOSTDOWN: there is one, but the run
 * lacks the pool of a node, which the text names, and no node has a copy. Looks at definitions and
 * records, not at bytes. Among versions of one number the newest in the line counts. info may be
 * NULL. -ENODATA: a required variable is missing; -EINVAL: types or shapes differ. Both name all
 * such variables. -EPROTONOSUPPORT: a newer Cairn wrote it. */
CAIRN_API int cairn_checkpoint_restart_test(cairn_checkpoint* checkpoint, int64_t version,
                                            cairn_checkpoint_info* info);

/* Fills halo elements too where they lie inside the global array. */
#define CAIRN_READ_HALO 1U
/* The global array of a variable may be larger than the stored one, in any dimension: element i is
 * then stored element i modulo the stored extent. */
#define CAIRN_READ_CYCLIC 2U
/* Verifies all bytes of the version, also of variables that are not defined; ranks share the work.
 * For a program that reads in several steps: with nothing defined, the first step chooses the
 * newest version whose bytes are all right, and LATEST stays that one. */
#define CAIRN_READ_VERIFY_ALL 4U

/* Collective; waits. Reads all defined variables, on any number of ranks and any decomposition, and
 * makes `version` the one that the run continues: newer versions are abandoned, and retired after
 * the run's first commit. Until then LATEST is the version that was read. If bytes are damaged,
 * they are read from a copy on another node. If there is none, LATEST goes on with the version
 * before in the line and info says so; a version asked for by its number is -EIO then. Every error
 * but -EIO and -ENOMEM comes before any array is touched. `info` may be NULL. -ENOENT: there is no
 * version. -EEXIST: there are, and none can be read; the text says why. Others as restart_test,
 * with -EHOSTDOWN only if no older version is complete. */
CAIRN_API int cairn_checkpoint_read(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags,
                                    cairn_checkpoint_info* info);
/* Elements [offset, offset + count) of the global array of one stored variable into `array`, whose
 * extents are the counts. NULL offset and count: all. Bytes outside are neither read nor verified,
 * but for the rest of their checksum blocks. The variable need not be defined, and the run
 * continues nothing by it. On one node local; on several collective, where ranks may ask for
 * different boxes, and counts of 0 ask for nothing. RAGGED, PARTICLES and PER_RANK are read as one
 * array of one dimension: the lists in order of the cells of `over` in the global array, the last
 * dimension the fastest; the others by ascending rank. A context that looks finds the elements once
 * and keeps that until it reads another variable or version. -ENOENT (no such version or variable),
 * -EINVAL (type, box), -EHOSTDOWN, -EUCLEAN (damaged), -EIO. */
CAIRN_API int cairn_checkpoint_read_var(cairn_checkpoint* checkpoint, int64_t version,
                                        const char* name, const int64_t* offset,
                                        const int64_t* count, const cairn_array* array);

/* Calls visit for each committed version, newest first, until it returns nonzero, which is the
 * result then. A context that looks gets what is damaged too, last: of level 0, and `why` says
 * what. Local. */
typedef int (*cairn_checkpoint_visit)(void* context, const cairn_checkpoint_info* info);
CAIRN_API int cairn_checkpoint_list(cairn_checkpoint* checkpoint, cairn_checkpoint_visit visit,
                                    void* context);

typedef struct cairn_checkpoint_variable {
  uint32_t struct_size;
  uint32_t type; /* enum cairn_type */
  uint64_t element_size;
  uint32_t dimensions;
  uint32_t flags; /* CAIRN_OPTIONAL */
  uint32_t kind;  /* enum cairn_distribution_kind */
  uint32_t attribute_count;
  /* Extents, slowest in a file first. RAGGED, PARTICLES and PER_RANK have one dimension: the
   * elements of all ranks, as cairn_checkpoint_read_var() reads them. It is -1 in a context that
   * looks if other hosts have parts of the version and this pool has no copies. */
  int64_t global[CAIRN_MAX_DIMENSIONS];
  const char* name;
  const cairn_attribute* attributes; /* ascending by key */
  /* Of RAGGED and PARTICLES, as they were defined; NULL: it has none. */
  const char* over;
  const char* key;
} cairn_checkpoint_variable;

/* Calls visit for each variable of a version, ascending by name, until it returns nonzero, which is
 * the result then. What it gets is valid inside visit. On one node local, on several collective.
 * -ENOENT, -EHOSTDOWN, -EUCLEAN. */
typedef int (*cairn_checkpoint_variable_visit)(void* context,
                                               const cairn_checkpoint_variable* variable);
CAIRN_API int cairn_checkpoint_variables(cairn_checkpoint* checkpoint, int64_t version,
                                         cairn_checkpoint_variable_visit visit, void* context);

/* How many elements of a RAGGED, PARTICLES or PER_RANK variable each rank that wrote the version
 * had, by ascending rank: info.ranks numbers. On one node local, on several collective. -EMSGSIZE:
 * `capacity` is less. -EINVAL: a variable of another kind. -ENOENT, -EHOSTDOWN, -EUCLEAN. */
CAIRN_API int cairn_checkpoint_counts(cairn_checkpoint* checkpoint, int64_t version,
                                      const char* name, uint64_t* counts, uint32_t capacity);

/* ---- parts ------------------------------------------------------------------------------------
 * A version of several hosts has a part in the pool of each, with what that host's ranks wrote.
 * These calls are for programs that run on each of the hosts and put the parts together, such as
 * `cairn ckpt export`. They need a context that looks (else -EINVAL), are local, and read the pool
 * of this host only. They fail with -ENOENT (no such version or variable), -EUCLEAN (damaged),
 * -EHOSTDOWN (the pool has neither the part nor a copy of it) and -ESTALE (the version was retired
 * meanwhile). */

enum cairn_part_presence {
  CAIRN_PART_MISSING = 0, /* it is in the pool of another host */
  CAIRN_PART_OWN = 1,     /* this host's ranks wrote it */
  CAIRN_PART_COPY = 2     /* the pool has a copy of another host's part */
};
typedef struct cairn_checkpoint_part {
  uint32_t struct_size;
  uint32_t part;     /* its number, from 0, the same on all hosts */
  uint32_t presence; /* enum cairn_part_presence */
  uint32_t ranks;    /* that wrote it */
  uint64_t bytes;
  const char* host; /* whose ranks wrote it */
} cairn_checkpoint_part;
typedef int (*cairn_checkpoint_part_visit)(void* context, const cairn_checkpoint_part* part);
/* Calls visit for each part of a version, ascending, until it returns nonzero, which is the result
 * then. What it gets is valid inside visit. */
CAIRN_API int cairn_checkpoint_parts(cairn_checkpoint* checkpoint, int64_t version,
                                     cairn_checkpoint_part_visit visit, void* context);

typedef struct cairn_checkpoint_piece {
  uint32_t struct_size;
  uint32_t dimensions;
  uint32_t rank; /* of RAGGED, PARTICLES and PER_RANK: which one wrote the elements; else 0 */
  uint32_t reserved;
  int64_t offset[CAIRN_MAX_DIMENSIONS];
  int64_t count[CAIRN_MAX_DIMENSIONS];
} cairn_checkpoint_piece;
typedef int (*cairn_checkpoint_piece_visit)(void* context, const cairn_checkpoint_piece* piece);
/* Calls visit for each piece of a variable that a part has, until it returns nonzero, which is the
 * result then. The pieces of all parts are disjoint and make up the global array; where blocks of
 * ranks overlap, an element is in the part whose rank's counts. cairn_checkpoint_read_var() reads a
 * piece. Of RAGGED, PARTICLES and PER_RANK there is a piece for each rank of the part, ascending:
 * [0, count[0]) is what the rank wrote, for cairn_checkpoint_read_rank(). What visit gets is valid
 * inside it. -EINVAL: the version has no such part. */
CAIRN_API int cairn_checkpoint_pieces(cairn_checkpoint* checkpoint, int64_t version,
                                      const char* name, uint32_t part,
                                      cairn_checkpoint_piece_visit visit, void* context);
/* Elements [first, first + array->extent[0]) that one rank wrote of a RAGGED, PARTICLES or PER_RANK
 * variable, in the rank's own order. -EINVAL (another kind or type, or elements that the rank does
 * not have), -EIO. */
CAIRN_API int cairn_checkpoint_read_rank(cairn_checkpoint* checkpoint, int64_t version,
                                         const char* name, uint32_t rank, int64_t first,
                                         const cairn_array* array);
/* Elements [first, first + array->extent[0]) of those that a RAGGED variable has for the cells
 * [offset, offset + count) of its `over`, in the order of these cells, the last dimension the
 * fastest. Where the lists are is found once for the cells that are asked for, and kept until
 * another call reads other ones: a million of them take some 24 MiB. Errors as read_rank. */
CAIRN_API int cairn_checkpoint_read_lists(cairn_checkpoint* checkpoint, int64_t version,
                                          const char* name, const int64_t* offset,
                                          const int64_t* count, int64_t first,
                                          const cairn_array* array);

typedef struct cairn_checkpoint_verified {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t bytes; /* that were read */
  uint64_t blocks;
  uint64_t bad_blocks;
  char why[256]; /* which one is bad, or "" */
} cairn_checkpoint_verified;
/* Reads all bytes of a version that this host's pool holds, copies of other nodes' parts included,
 * and compares them with their checksums.
 * `verified` may be NULL. Local. -EUCLEAN: bytes or records are damaged; `verified` says how many,
 * and the text which. -ENOENT: there is no such version. -ESTALE: it was retired meanwhile. */
CAIRN_API int cairn_checkpoint_verify(cairn_checkpoint* checkpoint, int64_t version,
                                      cairn_checkpoint_verified* verified);

/* ---- lower ------------------------------------------------------------------------------------
 * Copies are verbatim, with the checksums of the commit, below DIRECTORY/.cairn-checkpoints/NAME. A
 * version is complete there when its record, a few lines of JSON, has its name. */

/* Copies a version to a directory, syncs, reads it back and compares all bytes with their
 * checksums. A copy that is there already stays if its bytes are whole. With `keep` > 0, copies are
 * removed then: versions of the newest line that are older than its newest `keep` whole ones, and
 * versions that this line has abandoned, once a whole one has the same number or all that are kept
 * have greater ones. All bytes of the ones that count are read for it. The line before a run that
 * was FRESH stays, unless the context has CAIRN_CHECKPOINT_DROP_COPIES. This version stays. Local;
 * also in a context that looks. Of a version of several nodes the part of this one is copied; the
 * process that copies the last part completes the copy. The result is the number of parts that are
 * still missing there. -ENOENT; -EUCLEAN; -EEXIST: the directory has another set of this name, or
 * whole versions that this pool does not know; -EBUSY: another process has copied there for 60 s;
 * and those of the file system. */
CAIRN_API int cairn_checkpoint_drain(cairn_checkpoint* checkpoint, int64_t version,
                                     const char* directory, uint32_t keep);
/* Gets the newest whole version of a set back from a directory, into a pool that has none of it.
 * Versions that the newest one there has abandoned do not count, even if it is damaged itself. All
 * bytes are compared with their checksums. Fills in number, sequence, bytes, skipped and why of
 * info, which may be NULL. Of a version of several nodes this pool gets all parts. -EEXIST: the
 * pool has versions of the set; -ENOENT: the directory has none; -EUCLEAN: none is whole; -EBUSY,
 * -ENOSPC, -EPERM (another user's), and those of the file system. */
CAIRN_API int cairn_checkpoint_restore(cairn_pool* pool, const char* name, const char* directory,
                                       cairn_checkpoint_info* info);
/* Gets the newest whole version of the line before the newest one back, as restore() does. A run
 * that was FRESH has left it behind. A run whose options.lower is this directory would get the
 * newest line back: use another directory to go on from the earlier one. -ENOENT: there is no such
 * line. */
CAIRN_API int cairn_checkpoint_restore_earlier(cairn_pool* pool, const char* name,
                                               const char* directory, cairn_checkpoint_info* info);

/* ---- removing -------------------------------------------------------------------------------- */

#define CAIRN_DROP_LAST 1U    /* also the last version that is whole, and a set with versions */
#define CAIRN_DROP_SET 2U     /* the whole set; `version` is not looked at */
#define CAIRN_DROP_DAMAGED 4U /* what is damaged; `version` is not looked at */
/* Drops a version and frees its room. In a run: collective; waits; flags are 0, and all ranks name
 * the same version. -EINVAL: they do not. -EEXIST: the run has read none. -EPERM: it is the newest
 * version, the one that the run goes on from, or the newest that has copies on other nodes.
 * In a context that looks: what newer versions have abandoned goes with the newest one. -EBUSY: a
 * run uses the set, or a process reads the version; the text names it. -EPERM: no other version is
 * whole, as all bytes say, and CAIRN_DROP_LAST is not set. One of several hosts counts only if this
 * pool has copies of all other parts. -ENOENT. -ENOTEMPTY: the set's directory holds files that are
 * not Cairn's. After DROP_SET the context is good for finalize only. */
CAIRN_API int cairn_checkpoint_drop(cairn_checkpoint* checkpoint, int64_t version, uint32_t flags);

typedef struct cairn_checkpoint_set {
  uint32_t struct_size;
  uint32_t is_damaged;
  const char* name;
  uint64_t created_ns; /* since 1970 */
  uint64_t user;       /* a process whose run uses it; 0: none */
  const char* command; /* of that process, or "" */
  const char* why;     /* what is damaged, or "" */
} cairn_checkpoint_set;
/* Calls visit for each set of a pool, ascending by name, until it returns nonzero, which is the
 * result then. What it gets is valid inside visit. */
typedef int (*cairn_checkpoint_set_visit)(void* context, const cairn_checkpoint_set* set);
CAIRN_API int cairn_checkpoint_sets(cairn_pool* pool, cairn_checkpoint_set_visit visit,
                                    void* context);

#define CAIRN_ENDED_BY_ITSELF 1U
#define CAIRN_ENDED_FROM_OUTSIDE 2U /* by SIGKILL or SIGTERM */
/* Notes how a program ended that had no success: for what starts programs, as `cairn run` does.
 * `run`: the value of CAIRN_RUN in the program's environment. If it ended FROM_OUTSIDE, the restart
 * in this pool by a process with that value does not count for max_attempts, unless another program
 * of the same job ended BY_ITSELF. */
CAIRN_API int cairn_checkpoint_program_ended(cairn_pool* pool, const char* run, uint32_t end);

/* ---- when ----------------------------------------------------------------------------------- */

/* Is a checkpoint due at `step` (options.interval_ns)? 1 or 0, the same on all ranks for the same
 * call. Each rank calls it with the same sequence of steps. On one node the first rank to come
 * decides; it waits only for a rank that is more than 32 calls behind. On several nodes every
 * fourth call may say 1, when nodes found four calls before that a checkpoint was due; it waits for
 * a node that is more than four calls behind. -EINVAL: ranks called it with different steps.
 * -EOWNERDEAD: a rank died. */
CAIRN_API int cairn_checkpoint_need(cairn_checkpoint* checkpoint, int64_t step);

typedef struct cairn_checkpoint_outlook {
  uint32_t struct_size;
  uint32_t reason; /* 0: go on; 1 a signal, 2 the end of the job, 3 the halt file */
  uint32_t signal; /* that came to this rank; 0: none */
  uint32_t reserved;
  uint64_t left_ns;     /* until the end of the job; UINT64_MAX: unknown */
  uint64_t cost_ns;     /* of a checkpoint to LOCAL: the most of the last three; 0: none yet */
  uint64_t interval_ns; /* between checkpoints, as Young and Daly advise; 0: unknown */
  char text[256];       /* why, or "" */
} cairn_checkpoint_outlook;
/* Should the run write a last checkpoint and end? 1 or 0, the same on all ranks: a signal to one
 * counts for all (CAIRN_CHECKPOINT_SIGNALS), and so does the time that is left, less than one and a
 * half checkpoints and options.exit_margin_ns, or options.halt_file. Collective; waits: call it
 * where ranks are in step, such as after a checkpoint. `outlook` may be NULL. */
CAIRN_API int cairn_checkpoint_should_exit(cairn_checkpoint* checkpoint,
                                           cairn_checkpoint_outlook* outlook);

#ifdef __cplusplus
}
#endif
#endif /* CAIRN_CHECKPOINT_H */
