// MPI-IO as the standard says (MPI 4.1, chapter 14), against what plain reasoning and models say:
// run in a covered directory by any MPI on any number of ranks.
//   conformance PART SEED
#include <cstdlib>
#include <cstring>

#include "check.h"

int rank = 0;
int ranks = 1;
uint64_t seed = 0;
int wrong = 0;
bool several_hosts = false;

void check_class(int code, int expected, const char* what, int line) {
  int found = MPI_SUCCESS;
  MPI_Error_class(code, &found);
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  if (found == expected && length == static_cast<int>(std::strlen(text)) && length > 0) return;
  ++wrong;
  std::printf("rank %d: line %d: %s: class %d instead of %d: %s\n", rank, line, what, found,
              expected, text);
}

MPI_File open_file(const char* name, int amode, MPI_Comm comm) {
  MPI_File file = MPI_FILE_NULL;
  OK(MPI_File_open(comm, name, amode, MPI_INFO_NULL, &file));
  return file;
}

std::vector<unsigned char> contents(const char* name) {
  MPI_File file = open_file(name, MPI_MODE_RDONLY, MPI_COMM_SELF);
  MPI_Offset size = 0;
  OK(MPI_File_get_size(file, &size));
  std::vector<unsigned char> all(static_cast<size_t>(size));
  MPI_Status status;
  OK(MPI_File_read_at(file, 0, all.data(), static_cast<int>(size), MPI_BYTE, &status));
  CHECK(count_of(status, MPI_BYTE) == size);
  MPI_File_close(&file);
  return all;
}

namespace {

bool are_on_several_hosts() {
  char own[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  MPI_Get_processor_name(own, &length);
  char first[MPI_MAX_PROCESSOR_NAME];
  std::memcpy(first, own, sizeof first);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  int differs = std::strcmp(own, first) != 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return differs != 0;
}

struct Part {
  const char* name;
  void (*run)();
  bool by_name_only = false;
};
constexpr Part parts[] = {
    {"opening", test_opening},
    {"sizes", test_sizes},
    {"access", test_access},
    {"pointers", test_pointers},
    {"shared", test_shared},
    {"views", test_views},
    {"representations", test_representations},
    {"hints", test_hints},
    {"errors", test_errors},
    {"communicators", test_communicators},
    {"atomic", test_atomic},
    {"large", test_large},
    {"counts", test_counts},
    {"pairs", test_pairs},
    {"collective_writes", test_collective_writes},
    {"late_writer", test_late_writer, true},
    {"killed_writer", test_killed_writer, true},
    {"abort_after_open", test_abort_after_open, true},
    {"file_system_prefix", test_file_system_prefix, true},
    {"forced_file_system", test_forced_file_system, true},
    {"many_steps", test_many_steps, true},
    {"changed_while_drained", test_changed_while_drained, true},
};
}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  several_hosts = are_on_several_hosts();
  const std::string chosen = argc > 1 ? argv[1] : "";
  seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  int ran = 0;
  for (const Part& part : parts) {
    if (chosen != part.name && (chosen != "all" || part.by_name_only)) continue;
    const int before = wrong;
    part.run();
    barrier();
    ++ran;
    if (rank == 0 && wrong == before) std::printf("%s\n", part.name);
  }
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && ran == 0) std::printf("no part %s\n", chosen.c_str());
  if (rank == 0 && all != 0) std::printf("%d checks failed\n", all);
  MPI_Finalize();
  return all != 0 || ran == 0 ? 1 : 0;
}
