/* Messages between the nodes of an MPI program. Free of mpi.h.
 *
 * For adapters, and for libraries on top of Cairn whose data lie in the pools of several nodes. It
 * may change from one release to the next.
 *
 * A transport joins the processes of one communicator. Processes that have the same pool are one
 * NODE; the lowest rank of each node is its LEADER and answers requests for it. The program needs
 * neither `cairn run` nor a preloaded library: libcairn finds the MPI that the process has loaded
 * and loads lib/cairn/libcairn_mpi_NAME.so, which was built for its ABI. Any number of transports,
 * on any communicators, may exist concurrently.
 *
 * Conventions as in cairn/cairn.h: 0 or a negative errno, and cairn_last_error(). "Collective": all
 * processes of the communicator call it, in the same order. An MPI call that fails in the middle of
 * a collective step ends the job with one line on stderr, because the other ranks do not hear of
 * it.
 *
 * Thread levels (MPI 4.1, section 11.6)
 *  - MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED: every function here is called by a thread that may
 *    call MPI. A leader answers only inside these functions. So a rank asks where it knows that all
 *    leaders are in, or will reach, a collective function of this transport, cairn_transport_ask()
 *    or cairn_transport_progress(). cairn_transport_meet() ends such a phase.
 *  - MPI_THREAD_MULTIPLE without CAIRN_TRANSPORT_THREAD: the same, but for any thread.
 *  - MPI_THREAD_MULTIPLE with CAIRN_TRANSPORT_THREAD: each leader has a thread that answers
 *    whatever the program does, so any thread may ask at any time. All transports of a process
 *    share this thread, also those of a preloaded Cairn. Such a transport must be left before
 *    MPI_Finalize, unless the process runs under `cairn run`: some MPIs allow no second thread in
 *    MPI_Finalize.
 */
#ifndef CAIRN_ADAPTER_TRANSPORT_H
#define CAIRN_ADAPTER_TRANSPORT_H

#include "cairn/adapter/shared.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_transport cairn_transport;

/* Leaders answer in a thread of their own, if all ranks have MPI_THREAD_MULTIPLE. */
#define CAIRN_TRANSPORT_THREAD 1u

/* How a library uses its transport. Copied, but `name` and `context` must stay valid. */
typedef struct cairn_transport_client {
  const char* name; /* the library's name in messages, e.g. "checkpoint" */
  unsigned flags;   /* CAIRN_TRANSPORT_*; the same on all ranks */
  /* Answers a request for this node: fills in `reply`, at most reply_capacity bytes, and returns
   * its size. Leaders call it, in the thread above or inside the functions below. NULL: nobody
   * asks. */
  size_t (*serve)(void* context, const void* request, size_t size, void* reply);
  void* context;
  size_t request_capacity; /* bytes of the longest request; below 2 GiB */
  size_t reply_capacity;   /* bytes of the longest reply; below 2 GiB */
} cairn_transport_client;

/* What a transport looks like from this process. */
typedef struct cairn_transport_info {
  uint32_t rank;  /* in the communicator */
  uint32_t ranks; /* of the communicator */
  uint32_t node;  /* this process's node; nodes are numbered by their lowest ranks */
  uint32_t nodes;
  int32_t is_leader;
  int32_t has_thread; /* leaders answer at any time */
  int64_t number;     /* the same in all its processes, and in no other transport */
} cairn_transport_info;

/* Collective over `communicator`, a Fortran handle (MPI_Comm_c2f, or MPI_Comm_toint with the MPI
 * standard's ABI), which may be freed afterwards. `node`: this process's pool
 * (cairn_node_describe). Fails on all ranks alike, except for the first three:
 *  -ENOPKG   this process has loaded no MPI, or one that Cairn does not know or was not built for
 *  -ELIBBAD  the transport in this process is another version's: a preloaded Cairn differs from
 * this one -EINVAL   MPI_Init has not been called, or MPI_Finalize has -ENODEV   a process has no
 * pool (`node` is NULL) -EAGAIN   a leader gets no thread */
CAIRN_API int cairn_transport_join(int communicator, const cairn_node* node,
                                   const cairn_transport_client* client,
                                   cairn_transport** transport);
/* Collective, and waits for all. Afterwards the transport no longer exists. One that is not left
 * ends in MPI_Finalize, when the attributes of MPI_COMM_SELF are deleted; from then on every
 * function returns -ENOTCONN, and this one frees its memory. */
CAIRN_API int cairn_transport_leave(cairn_transport* transport);

CAIRN_API int cairn_transport_describe(const cairn_transport* transport,
                                       cairn_transport_info* info);
/* -EINVAL: no such node. */
CAIRN_API int cairn_transport_node(const cairn_transport* transport, uint32_t number,
                                   cairn_node* node);
/* The number of the node on which a rank is. -EINVAL: no such rank. */
CAIRN_API int cairn_transport_node_of(const cairn_transport* transport, uint32_t rank);
/* Stores the ranks of a node, ascending, as far as `capacity` reaches. Returns how many the node
 * has. -EINVAL: no such node. */
CAIRN_API int cairn_transport_ranks_of(const cairn_transport* transport, uint32_t number,
                                       uint32_t* ranks, uint32_t capacity);

/* Sends all questions to the leaders of their nodes and waits for all replies. With a thread, a
 * leader that does not answer for the time of mpi.timeout ends the job, with a line that names it.
 * -EINVAL: no such node, or a request longer than request_capacity. */
CAIRN_API int cairn_transport_ask(cairn_transport* transport, cairn_question* questions,
                                  size_t count);
/* Answers the requests that have come, and returns. Without effect in a transport with a thread. */
CAIRN_API int cairn_transport_progress(cairn_transport* transport);

/* Collective: returns when all ranks have called it. Leaders answer meanwhile. */
CAIRN_API int cairn_transport_meet(cairn_transport* transport);
/* Collective: rank `root`'s bytes, to all. */
CAIRN_API int cairn_transport_broadcast(cairn_transport* transport, void* bytes, size_t size,
                                        uint32_t root);
/* Collective: each value becomes the greatest of all ranks'. */
CAIRN_API int cairn_transport_maximum(cairn_transport* transport, int64_t* values, uint32_t count);
/* Collective: `size` bytes of each node's leader, to all ranks: those of node n at all + n * size.
 * `bytes` counts on leaders, `size` must be the same on all ranks. Messages grow with the nodes,
 * not with the ranks. */
CAIRN_API int cairn_transport_gather_nodes(cairn_transport* transport, const void* bytes,
                                           size_t size, void* all);

/* A gather in two halves, among leaders, for a leader that must not wait. Each channel has at most
 * one gather under way. Channels are independent: leaders may use them in different orders. */
#define CAIRN_TRANSPORT_CHANNELS 2u
/* Leaders only; all leaders begin the gathers of a channel in the same order, with the same `size`.
 * Does not wait. `bytes` and `all` (size bytes for each node) belong to the transport until the
 * gather is complete. -EPERM: this rank is not a leader. -EBUSY: the channel's gather is not
 * complete. -EINVAL: no such channel. */
CAIRN_API int cairn_transport_begin_gather(cairn_transport* transport, uint32_t channel,
                                           const void* bytes, size_t size, void* all);
/* Leaders only. 1: the channel's gather is complete, or it has none; 0: some leader has not begun
 * it. Answers requests, as cairn_transport_progress(). Where an MPI moves nothing by itself, a
 * gather proceeds only inside the functions of this header. */
CAIRN_API int cairn_transport_test_gather(cairn_transport* transport, uint32_t channel);

#ifdef __cplusplus
}
#endif

#endif
