// Names that a file gets beside its first one, and names of FIFOs and sockets, over several hosts.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "by_name.h"

namespace {

// As version control, mail and lock files do it: written aside, then linked to the name. `linked/*`
// was there before the job, 1000 bytes of 0xff each; rank 0 has removed `removed` and `unnamed`.
void links() {
  const Bytes anew = patterns(0, 5000, rank);
  const std::string own = "own" + std::to_string(rank);
  write_bytes(own, "wx", anew);
  if (rank == 0)
    for (const char* name : {"linked/removed", "linked/unnamed"}) CHECK(unlink(name) == 0);
  barrier();
  if (rank == last()) {
    CHECK(link(own.c_str(), "linked/removed") == 0);
    const int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    CHECK(fd >= 0 && write(fd, anew.data(), anew.size()) == static_cast<ssize_t>(anew.size()));
    CHECK(linkat(fd, "", AT_FDCWD, "linked/unnamed", AT_EMPTY_PATH) == 0 && close(fd) == 0);
    // What all hosts have, gets a name and is written on one.
    CHECK(link("linked/before", "linked/after") == 0);
    const int open_there = open("linked/open", O_RDONLY);
    CHECK(linkat(open_there, "", AT_FDCWD, "linked/opened", AT_EMPTY_PATH) == 0);
    CHECK(close(open_there) == 0);
    CHECK(symlink("own0", "pointer") == 0 && link("pointer", "pointer.too") == 0);
  }
  barrier();
  char text[16] = {};
  CHECK(readlink("pointer.too", text, sizeof text) == 4 && std::strcmp(text, "own0") == 0);
  const Bytes linked = patterns(0, 5000, last());
  CHECK(bytes_in("linked/removed") == linked && bytes_in("linked/unnamed") == linked);
  CHECK((list("linked") ==
         std::vector<std::string>{"after", "before", "open", "opened", "removed", "unnamed"}));
  struct stat st;
  for (const char* name : {"linked/before", "linked/open"})
    CHECK(stat(name, &st) == 0 && st.st_nlink == 2);
  for (const char* there : {"linked/removed", "linked/before", "own0", "pointer"}) {
    CHECK(link(own.c_str(), there) == -1 && errno == EEXIST);
  }
  // A lock file: one of all has it.
  for (int round = 0; round < 20; ++round) {
    const std::string name = "lock" + std::to_string(round);
    barrier();
    const int made = link(own.c_str(), name.c_str());
    CHECK(made == 0 || errno == EEXIST);
    const int mine = made == 0 ? 1 : 0;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(all == 1);
    CHECK(stat(name.c_str(), &st) == 0 && st.st_size == 5000);
    barrier();
    if (made == 0) CHECK(unlink(name.c_str()) == 0);
  }
  barrier();
  if (rank == 0)
    for (const char* name : {"linked/before", "linked/open"}) write_bytes(name, "a", {'!'});
  barrier();
  for (const char* name : {"linked/after", "linked/opened"}) CHECK(size_by_name(name) == 1001);
}

// Has the kernel a name for what the descriptor has open?
bool has_kernel_name(int fd) {
  char text[4096] = "";
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  CHECK(readlink(link.c_str(), text, sizeof text - 1) > 0);
  return std::strstr(text, " (deleted)") == nullptr;
}

// Names of FIFOs and sockets are everywhere; what goes through them stays on its host.
void specials() {
  if (rank == 0) {
    CHECK(unlink("special/fifo") == 0 && unlink("special/socket") == 0);
    CHECK(mkfifo("fifo", 0640) == 0);
  }
  barrier();
  struct stat st;
  CHECK(stat("fifo", &st) == 0 && S_ISFIFO(st.st_mode) && (st.st_mode & 0777) == 0640);
  CHECK(mkfifo("fifo", 0600) == -1 && errno == EEXIST);
  const int fd = open("fifo", O_RDWR | O_NONBLOCK);
  const char sent = static_cast<char>('a' + rank);
  char got = 0;
  CHECK(fd >= 0 && write(fd, &sent, 1) == 1 && read(fd, &got, 1) == 1 && got == sent);
  CHECK(close(fd) == 0);
  barrier();
  const struct timespec times[2] = {{100, 5}, {200, 7}};
  if (rank == last()) CHECK(chmod("fifo", 0604) == 0);
  if (rank == last()) CHECK(utimensat(AT_FDCWD, "fifo", times, AT_SYMLINK_NOFOLLOW) == 0);
  if (rank == last()) CHECK(utimensat(AT_FDCWD, "special", times, 0) == 0);
  barrier();
  CHECK(stat("fifo", &st) == 0 && (st.st_mode & 0777) == 0604 && st.st_mtim.tv_sec == 200);
  CHECK(stat("special", &st) == 0 && st.st_atim.tv_nsec == 5 && st.st_mtim.tv_nsec == 7);
  barrier();
  // By descriptor, and under another name, too.
  if (rank == 0) {
    CHECK(link("fifo", "special/second") == 0);
    const int open_one = open("fifo", O_RDWR | O_NONBLOCK);
    CHECK(open_one >= 0 && fchmod(open_one, 0606) == 0 && fchown(open_one, 12, 34) == 0);
    const struct timespec others[2] = {{300, 5}, {400, 7}};
    CHECK(futimens(open_one, others) == 0 && close(open_one) == 0);
  }
  barrier();
  for (const char* name : {"fifo", "special/second"}) {
    CHECK(stat(name, &st) == 0 && (st.st_mode & 0777) == 0606 && st.st_mtim.tv_sec == 400);
    CHECK(st.st_uid == 12 && st.st_gid == 34);
  }
  barrier();
  if (rank == last()) CHECK(unlink("special/second") == 0);
  barrier();
  if (rank == last()) {
    CHECK(mkfifo("special/fifo", 0600) == 0);
    CHECK(rename("fifo", "moved") == 0);
    const int bound = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, "special/socket");
    CHECK(bind(bound, reinterpret_cast<const struct sockaddr*>(&address), sizeof address) == 0);
    CHECK(close(bound) == 0 && mkfifo("gone", 0600) == 0);
  }
  barrier();
  CHECK((list("special") == std::vector<std::string>{"fifo", "socket"}));
  CHECK(stat("special/socket", &st) == 0 && S_ISSOCK(st.st_mode));
  // Open on all hosts: what the kernel has for it goes with the name.
  const int open_one = open("gone", O_RDWR | O_NONBLOCK);
  CHECK(open_one >= 0 && has_kernel_name(open_one));
  CHECK(is_missing(access("fifo", F_OK)) && stat("moved", &st) == 0 && S_ISFIFO(st.st_mode));
  barrier();
  if (rank == 0) CHECK(unlink("gone") == 0);
  barrier();
  CHECK(is_missing(access("gone", F_OK)));
  CHECK(!has_kernel_name(open_one) && close(open_one) == 0);
}

constexpr Part parts[] = {{"links", links}, {"specials", specials}};

}  // namespace

int main(int argc, char** argv) { return run_parts(parts, argc, argv); }
