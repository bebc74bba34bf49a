// Pairs of a value and an index, as MPI_MINLOC takes them: predefined, with a gap between the two
// or behind them; and complex numbers.
#include <cstddef>
#include <cstring>

#include "check.h"

namespace {

template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

// In memory as C has it, in the file without gaps; and in external32, whose values are of these
// sizes.
template <typename Value, typename Index>
void move(const char* name, MPI_Datatype type, size_t value_size, size_t index_size) {
  std::vector<Pair<Value, Index>> mine(10), got(10);
  std::memset(static_cast<void*>(mine.data()), 0, mine.size() * sizeof mine[0]);
  std::memset(static_cast<void*>(got.data()), 0, got.size() * sizeof got[0]);
  for (size_t i = 0; i < mine.size(); ++i) {
    mine[i].value = static_cast<Value>(3 * i + 1);
    mine[i].index = static_cast<Index>(i) - 5;
  }
  const std::string file_name = name + std::to_string(rank);
  MPI_Status status;
  for (const char* representation : {"native", "external32"}) {
    MPI_File file = open_file(file_name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_COMM_SELF);
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, representation, MPI_INFO_NULL));
    OK(MPI_File_write(file, mine.data(), 10, type, &status));
    CHECK(count_of(status, type) == 10);
    OK(MPI_File_read_at(file, 0, got.data(), 10, type, &status));
    CHECK(count_of(status, type) == 10);
    for (size_t i = 0; i < mine.size(); ++i)
      CHECK(got[i].value == mine[i].value && got[i].index == mine[i].index);
    MPI_File_close(&file);
    const auto bytes = contents(file_name.c_str());
    if (representation[0] == 'e') {
      CHECK(bytes.size() == 10 * (value_size + index_size));
      CHECK(bytes[value_size + index_size - 1] == 0xfb);  // -5, at its end
    } else {
      CHECK(bytes.size() == 10 * (sizeof(Value) + sizeof(Index)));
      Index second = 0;
      std::memcpy(&second, bytes.data() + 2 * sizeof(Value) + sizeof(Index), sizeof second);
      CHECK(second == -4);
    }
  }
}

#ifdef MPI_COMPLEX4
// Two numbers of two bytes, of which each is turned, where the MPI has them.
void half_complex() {
  int size = 0;
  MPI_Type_size(MPI_COMPLEX4, &size);
  if (size != 4) return;
  const unsigned char mine[] = {1, 2, 3, 4};
  const std::string name = "half" + std::to_string(rank);
  MPI_File file = open_file(name.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_COMM_SELF);
  OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
  OK(MPI_File_write(file, mine, 1, MPI_COMPLEX4, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
  CHECK(contents(name.c_str()) == std::vector<unsigned char>({2, 1, 4, 3}));
}
#endif

}  // namespace

void test_pairs() {
  move<short, int>("short", MPI_SHORT_INT, 2, 4);
  move<long, int>("long", MPI_LONG_INT, 4, 4);
  move<double, int>("double", MPI_DOUBLE_INT, 8, 4);
#ifdef MPI_COMPLEX4
  half_complex();
#endif
}
