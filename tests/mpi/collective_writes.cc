// What programs expect after a blocking collective write, although that call does not synchronise:
// the file's size and collective reads show what all ranks wrote. One rank comes late to each
// write.
#include <unistd.h>

#include <csignal>

#include "check.h"

namespace {

constexpr int piece = 1024;
constexpr int pieces = 4;  // of each rank in a round
constexpr int share = piece * pieces;
constexpr int rounds = 100;  // with few ranks: many of them take long where processors are few
constexpr int few_rounds = 12;
constexpr useconds_t late_us = 3000;
// A call that waits in vain takes CAIRN_MPI_TIMEOUT, 60 s.
constexpr double far_below_timeout_s = 20;

using Bytes = std::vector<unsigned char>;

// A file that the ranks of a communicator have open together.
struct Opened {
  explicit Opened(const char* name, MPI_Comm over = MPI_COMM_WORLD) : comm(over) {
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &count);
    file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR, comm);
  }
  ~Opened() { OK(MPI_File_close(&file)); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  // Shows each rank its own pieces of all, or the file as it is.
  void set_view(bool interleaved) const {
    MPI_Datatype filetype = MPI_BYTE;
    if (interleaved) {
      MPI_Datatype one;
      MPI_Type_contiguous(piece, MPI_BYTE, &one);
      MPI_Type_create_resized(one, 0, MPI_Aint{piece} * count, &filetype);
      MPI_Type_commit(&filetype);
      MPI_Type_free(&one);
    }
    OK(MPI_File_set_view(file, interleaved ? MPI_Offset{piece} * own : 0, MPI_BYTE, filetype,
                         "native", MPI_INFO_NULL));
    if (interleaved) MPI_Type_free(&filetype);
  }
  // Empty, and as if nobody had accessed it. All ranks have come when it returns on one.
  void begin_round(bool ordered = false) const {
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    if (ordered) OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  }
  void come_late(int round) const {
    if (round % count == own) usleep(late_us);
  }
  [[nodiscard]] MPI_Offset full() const { return MPI_Offset{share} * count; }
  [[nodiscard]] MPI_Offset size() const {
    MPI_Offset bytes = -1;
    OK(MPI_File_get_size(file, &bytes));
    return bytes;
  }
  [[nodiscard]] int last() const { return count - 1; }

  MPI_Comm comm;
  int own = 0;
  int count = 1;
  MPI_File file = MPI_FILE_NULL;
};

Bytes bytes_of(int writer, int round) {
  return Bytes(share, static_cast<unsigned char>(1 + writer + 16 * (round % 8)));
}

struct Write {
  void (*write)(MPI_File file, const Bytes& bytes);
  bool interleaved;
};
constexpr Write writes[] = {
    {[](MPI_File file, const Bytes& bytes) {
       OK(MPI_File_write_all(file, bytes.data(), share, MPI_BYTE, MPI_STATUS_IGNORE));
     },
     true},
    {[](MPI_File file, const Bytes& bytes) {
       OK(MPI_File_write_at_all(file, 0, bytes.data(), share, MPI_BYTE, MPI_STATUS_IGNORE));
     },
     true},
    {[](MPI_File file, const Bytes& bytes) {
       OK(MPI_File_write_all_begin(file, bytes.data(), share, MPI_BYTE));
       OK(MPI_File_write_all_end(file, bytes.data(), MPI_STATUS_IGNORE));
     },
     true},
    {[](MPI_File file, const Bytes& bytes) {
       OK(MPI_File_write_at_all_begin(file, 0, bytes.data(), share, MPI_BYTE));
       OK(MPI_File_write_at_all_end(file, bytes.data(), MPI_STATUS_IGNORE));
     },
     true},
    {[](MPI_File file, const Bytes& bytes) {
       OK(MPI_File_write_ordered(file, bytes.data(), share, MPI_BYTE, MPI_STATUS_IGNORE));
     },
     false},
    {[](MPI_File file, const Bytes& bytes) {
       OK(MPI_File_write_ordered_begin(file, bytes.data(), share, MPI_BYTE));
       OK(MPI_File_write_ordered_end(file, bytes.data(), MPI_STATUS_IGNORE));
     },
     false},
};

// Each reads share `own` of a file that is seen as it is.
using Read = void (*)(MPI_File file, int own, void* bytes);
constexpr Read reads[] = {
    [](MPI_File file, int own, void* bytes) {
      OK(MPI_File_seek(file, MPI_Offset{share} * own, MPI_SEEK_SET));
      OK(MPI_File_read_all(file, bytes, share, MPI_BYTE, MPI_STATUS_IGNORE));
    },
    [](MPI_File file, int own, void* bytes) {
      OK(MPI_File_read_at_all(file, MPI_Offset{share} * own, bytes, share, MPI_BYTE,
                              MPI_STATUS_IGNORE));
    },
    [](MPI_File file, int own, void* bytes) {
      OK(MPI_File_seek(file, MPI_Offset{share} * own, MPI_SEEK_SET));
      OK(MPI_File_read_all_begin(file, bytes, share, MPI_BYTE));
      OK(MPI_File_read_all_end(file, bytes, MPI_STATUS_IGNORE));
    },
    [](MPI_File file, int own, void* bytes) {
      OK(MPI_File_read_at_all_begin(file, MPI_Offset{share} * own, bytes, share, MPI_BYTE));
      OK(MPI_File_read_at_all_end(file, bytes, MPI_STATUS_IGNORE));
    },
    [](MPI_File file, int, void* bytes) {
      OK(MPI_File_read_ordered(file, bytes, share, MPI_BYTE, MPI_STATUS_IGNORE));
    },
    [](MPI_File file, int, void* bytes) {
      OK(MPI_File_read_ordered_begin(file, bytes, share, MPI_BYTE));
      OK(MPI_File_read_ordered_end(file, bytes, MPI_STATUS_IGNORE));
    },
};

void the_size_is_full(const Opened& all, const Write& one, int count) {
  int full = 0;
  all.set_view(one.interleaved);
  for (int round = 0; round < count; ++round) {
    all.begin_round(!one.interleaved);
    all.come_late(round);
    one.write(all.file, bytes_of(all.own, round));
    full += all.size() == all.full() ? 1 : 0;
  }
  CHECK(full == count);
}

void the_end_is_behind_all(const Opened& all) {
  int right = 0;
  all.set_view(false);
  for (int round = 0; round < few_rounds; ++round) {
    all.begin_round();
    all.come_late(round);
    const Bytes bytes = bytes_of(all.own, round);
    OK(MPI_File_write_at_all(all.file, MPI_Offset{share} * all.own, bytes.data(), share, MPI_BYTE,
                             MPI_STATUS_IGNORE));
    MPI_Offset end = -1;
    OK(MPI_File_seek(all.file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(all.file, &end));
    right += end == all.full() ? 1 : 0;
  }
  CHECK(right == few_rounds);
}

// Each rank reads what its neighbour wrote.
void reads_find_all(const Opened& all) {
  for (const Read& read : reads) {
    int right = 0;
    all.set_view(false);
    for (int round = 0; round < few_rounds; ++round) {
      all.begin_round(true);
      all.come_late(round);
      const Bytes bytes = bytes_of(all.own, round);
      OK(MPI_File_write_at_all(all.file, MPI_Offset{share} * ((all.own + all.last()) % all.count),
                               bytes.data(), share, MPI_BYTE, MPI_STATUS_IGNORE));
      Bytes found(share, 0);
      read(all.file, all.own, found.data());
      right += found == bytes_of((all.own + 1) % all.count, round) ? 1 : 0;
    }
    CHECK(right == few_rounds);
  }
}

// A message too long to be sent before it is received: its sender has to take part until it has
// gone.
void messages_go_on(const Opened& all) {
  constexpr int length = 8 << 20;
  Bytes message(length, 7);
  const double began_s = MPI_Wtime();
  all.set_view(true);
  all.begin_round();
  MPI_Request request = MPI_REQUEST_NULL;
  if (all.own == 0 && all.last() != 0)
    OK(MPI_Isend(message.data(), length, MPI_BYTE, all.last(), 1, all.comm, &request));
  if (all.own == all.last() && all.last() != 0)
    OK(MPI_Recv(message.data(), length, MPI_BYTE, 0, 1, all.comm, MPI_STATUS_IGNORE));
  writes[0].write(all.file, bytes_of(all.own, 0));
  CHECK(all.size() == all.full());
  OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK(MPI_Wtime() - began_s < far_below_timeout_s);
  barrier();
}

// Rank 0 asks for the size between `begin` and `end`; the last one begins when it has done so.
template <typename Begin, typename End>
void nobody_waits(const Opened& all, const Begin& begin, const End& end) {
  const double began_s = MPI_Wtime();
  all.set_view(true);
  all.begin_round();
  int word = 0;
  if (all.own == all.last() && all.last() != 0)
    OK(MPI_Recv(&word, 1, MPI_INT, 0, 1, all.comm, MPI_STATUS_IGNORE));
  begin();
  if (all.own == 0 && all.last() != 0) {
    CHECK(all.size() >= share && all.size() <= all.full());
    OK(MPI_Send(&word, 1, MPI_INT, all.last(), 1, all.comm));
  }
  end();
  CHECK(MPI_Wtime() - began_s < far_below_timeout_s);
  barrier();
}

void nobody_waits_before_the_end(const Opened& all) {
  const Bytes bytes = bytes_of(all.own, 0);
  nobody_waits(
      all, [&] { OK(MPI_File_write_all_begin(all.file, bytes.data(), share, MPI_BYTE)); },
      [&] {
        OK(MPI_File_write_all_end(all.file, bytes.data(), MPI_STATUS_IGNORE));
        CHECK(all.size() == all.full());
      });
  MPI_Request request = MPI_REQUEST_NULL;
  nobody_waits(
      all, [&] { OK(MPI_File_iwrite_all(all.file, bytes.data(), share, MPI_BYTE, &request)); },
      [&] { OK(MPI_Wait(&request, MPI_STATUS_IGNORE)); });
}

// A write that one rank is refused is over for it.
void nobody_waits_for_the_refused(const Opened& all) {
  const double began_s = MPI_Wtime();
  const Bytes bytes = bytes_of(all.own, 0);
  const MPI_Offset bad = -1;
  all.set_view(true);
  all.begin_round();
  const auto at = [&](MPI_Offset offset) { return all.own == all.last() ? bad : offset; };
  const int code =
      MPI_File_write_at_all(all.file, at(0), bytes.data(), share, MPI_BYTE, MPI_STATUS_IGNORE);
  const int split =
      MPI_File_write_at_all_begin(all.file, at(share), bytes.data(), share, MPI_BYTE);
  if (all.own == all.last()) {
    CHECK_CLASS(code, MPI_ERR_ARG);
    CHECK_CLASS(split, MPI_ERR_ARG);
  } else {
    CHECK(code == MPI_SUCCESS && split == MPI_SUCCESS);
    OK(MPI_File_write_at_all_end(all.file, bytes.data(), MPI_STATUS_IGNORE));
    CHECK(all.size() >= 2 * share);
  }
  barrier();
  CHECK(MPI_Wtime() - began_s < far_below_timeout_s);
  all.set_view(true);
  all.begin_round();
  all.come_late(0);
  writes[0].write(all.file, bytes);
  CHECK(all.size() == all.full());
  barrier();
}

}  // namespace

void test_collective_writes() {
  // Between hosts others see a write after MPI_File_sync.
  if (several_hosts) return;
  {
    const Opened all("collective_writes");
    the_size_is_full(all, writes[0], ranks <= 4 ? rounds : few_rounds);
    for (const Write& one : writes) the_size_is_full(all, one, few_rounds);
    the_end_is_behind_all(all);
    reads_find_all(all);
    messages_go_on(all);
    nobody_waits_before_the_end(all);
    nobody_waits_for_the_refused(all);
  }
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  the_size_is_full(Opened("collective_writes_reversed", reversed), writes[0], few_rounds);
  MPI_Comm_free(&reversed);
}

// With CAIRN_MPI_TIMEOUT=2: the last rank comes after that time to a write that the others have
// finished.
void test_late_writer() {
  const Opened all("late_writer");
  all.set_view(true);
  all.begin_round();
  if (all.own == all.last()) sleep(6);
  writes[0].write(all.file, bytes_of(all.own, 0));
  if (all.own != all.last()) {
    double began_s = MPI_Wtime();
    CHECK(all.size() < all.full());
    CHECK(MPI_Wtime() - began_s > 1 && MPI_Wtime() - began_s < 5);
    // It is not waited for again.
    began_s = MPI_Wtime();
    CHECK(all.size() < all.full());
    CHECK(MPI_Wtime() - began_s < 1);
  }
  barrier();
  CHECK(all.size() == all.full());
}

// The last rank is killed before its write, in a job that goes on.
void test_killed_writer() {
  const Opened all("killed_writer");
  all.set_view(true);
  all.begin_round();
  if (all.own == all.last()) raise(SIGKILL);
  writes[0].write(all.file, bytes_of(all.own, 0));
  const double began_s = MPI_Wtime();
  const MPI_Offset size = all.size();
  const double took_s = MPI_Wtime() - began_s;
  std::printf("%s\n", size > 0 && size < all.full() && took_s < far_below_timeout_s
                          ? "went on"
                          : "waited for the dead");
  std::fflush(stdout);
  // Without the last one no collective call ends.
  _exit(0);
}
