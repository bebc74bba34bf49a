// A checkpoint program: one shared file a step, all of them larger than the pool together. The
// script that runs it (many_steps.py) looks at the pool and at the covered directory while the
// ranks wait for it.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "check.h"

namespace {

constexpr int piece = 64 << 10;

size_t number_from_environment(const char* name, size_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Rank 0 says how far the ranks have come, and waits for a file of that name with "-seen".
void show(const std::string& what) {
  barrier();
  if (rank == 0) {
    const std::string place = std::getenv("CAIRN_STEPS_PLACE");
    std::ofstream((place + "/" + what).c_str());
    while (access((place + "/" + what + "-seen").c_str(), F_OK) != 0) usleep(10'000);
  }
  barrier();
}

std::string name_of(int step) { return "step-" + std::to_string(step); }

// Byte `at` of a step, as the script knows it too.
unsigned char byte_at(int step, size_t at) {
  return static_cast<unsigned char>((static_cast<size_t>(step) * 31 + at / 4096 + at % 251) % 256);
}

// The pieces go round the ranks.
struct Layout {
  explicit Layout(MPI_File file) {
    MPI_Datatype one;
    MPI_Datatype mine;
    MPI_Type_contiguous(piece, MPI_BYTE, &one);
    MPI_Type_create_resized(one, 0, MPI_Aint{piece} * ranks, &mine);
    MPI_Type_commit(&mine);
    OK(MPI_File_set_view(file, MPI_Offset{piece} * rank, MPI_BYTE, mine, "native", MPI_INFO_NULL));
    MPI_Type_free(&mine);
    MPI_Type_free(&one);
  }
};

std::vector<unsigned char> own_bytes(int step, size_t size) {
  std::vector<unsigned char> bytes;
  bytes.reserve(size / static_cast<size_t>(ranks));
  for (size_t from = static_cast<size_t>(rank) * piece; from < size;
       from += static_cast<size_t>(ranks) * piece)
    for (size_t at = from; at < from + piece; ++at) bytes.push_back(byte_at(step, at));
  return bytes;
}

void write_step(int step, size_t size) {
  const std::vector<unsigned char> bytes = own_bytes(step, size);
  MPI_File file = open_file(name_of(step).c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY);
  const Layout layout(file);
  MPI_Status status;
  OK(MPI_File_write_all(file, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &status));
  CHECK(count_of(status, MPI_BYTE) == static_cast<int>(bytes.size()));
  OK(MPI_File_sync(file));
  OK(MPI_File_close(&file));
}

void read_step(int step, size_t size) {
  const std::vector<unsigned char> expected = own_bytes(step, size);
  std::vector<unsigned char> bytes(expected.size());
  MPI_File file = open_file(name_of(step).c_str(), MPI_MODE_RDONLY);
  MPI_Offset found = 0;
  OK(MPI_File_get_size(file, &found));
  CHECK(found == static_cast<MPI_Offset>(size));
  const Layout layout(file);
  MPI_Status status;
  OK(MPI_File_read_all(file, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, &status));
  CHECK(count_of(status, MPI_BYTE) == static_cast<int>(bytes.size()));
  CHECK(bytes == expected);
  OK(MPI_File_close(&file));
}

// Each rank writes one byte into the pieces of the next one.
void change_step(int step, size_t size) {
  MPI_File file = open_file(name_of(step).c_str(), MPI_MODE_RDWR);
  const unsigned char byte = 'N';
  const MPI_Offset at = MPI_Offset{piece} * ((rank + 1) % ranks) + 1000 + rank;
  OK(MPI_File_write_at_all(file, at, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE));
  OK(MPI_File_sync(file));
  barrier();
  std::vector<unsigned char> bytes(size);
  OK(MPI_File_read_at_all(file, 0, bytes.data(), static_cast<int>(size), MPI_BYTE,
                          MPI_STATUS_IGNORE));
  size_t others = 0;
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != byte_at(step, i)) ++others;
  size_t changed = 0;
  for (int i = 0; i < ranks; ++i) {
    const size_t where = static_cast<size_t>(piece) * static_cast<size_t>((i + 1) % ranks) + 1000 +
                         static_cast<size_t>(i);
    CHECK(bytes[where] == 'N');
    if (byte_at(step, where) != 'N') ++changed;
  }
  CHECK(others == changed);
  OK(MPI_File_close(&file));
}

}  // namespace

// All steps, read back twice; then the oldest and the youngest are changed.
void test_many_steps() {
  const size_t size = number_from_environment("CAIRN_STEP_MIB", 4) << 20;
  const int steps = static_cast<int>(number_from_environment("CAIRN_STEPS", 40));
  for (int step = 0; step < steps; ++step) {
    write_step(step, size);
    if (step == 1) show("two");
  }
  show("written");
  for (int turn = 0; turn < 2; ++turn)
    for (int step = 0; step < steps; ++step) read_step(step, size);
  show("read");
  for (const int step : {0, steps - 1}) change_step(step, size);
  show("changed");
}

// One file that is changed while a slow drain copies it.
void test_changed_while_drained() {
  const size_t size = number_from_environment("CAIRN_STEP_MIB", 4) << 20;
  write_step(0, size);
  show("written");  // until a drain has begun
  change_step(0, size);
  show("changed");
}
