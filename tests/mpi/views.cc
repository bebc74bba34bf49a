// Views: random ones against a model, and those of arrays that programs use.
#include <algorithm>
#include <array>
#include <cstddef>

#include "check.h"
#include "random_type.h"

namespace {

// Ranks that share processors wait long for each other.
int rounds() { return 8 + 40 / ranks; }

// Every rank's pieces interleave with the others', in tiles that all ranks share.
struct Interleaved {
  RandomType pieces;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  int64_t tile = 0;
};

// Rank `owner`'s: all ranks make everybody's pieces, and only their own type.
std::vector<Interleaved> interleaved(std::mt19937_64& random) {
  std::vector<Interleaved> all(static_cast<size_t>(ranks));
  int64_t tile = 0;
  std::vector<int64_t> starts;
  for (Interleaved& one : all) {
    one.pieces = random_type(random, Order::rising, 3);
    starts.push_back(tile);
    tile += one.pieces.lb + one.pieces.extent;
  }
  for (size_t r = 0; r < all.size(); ++r) {
    Interleaved& one = all[r];
    one.tile = tile;
    for (int64_t& at : one.pieces.ints) at += starts[r];
    const int length = 1;
    const MPI_Aint start = starts[r];
    MPI_Datatype placed;
    MPI_Type_create_hindexed(1, &length, &start, one.pieces.type, &placed);
    MPI_Type_create_resized(placed, 0, tile, &one.filetype);
    MPI_Type_commit(&one.filetype);
    MPI_Type_free(&placed);
    MPI_Type_free(&one.pieces.type);
  }
  return all;
}

int value_of(int owner, int64_t index, int round) {
  return static_cast<int>(owner * 10000019 + index * 31 + round * 7 + 1);
}

// Writes `count` ints from int `from` of the view on, in one of the ways that there are.
void write_some(MPI_File file, std::mt19937_64& random, int64_t from, const int* values,
                int count) {
  MPI_Status status;
  MPI_Request request;
  switch (std::uniform_int_distribution<int>(0, 4)(random)) {
    case 0:
      OK(MPI_File_write_at(file, from, values, count, MPI_INT, &status));
      break;
    case 1:
      OK(MPI_File_write_at_all(file, from, values, count, MPI_INT, &status));
      break;
    case 2:
      OK(MPI_File_seek(file, from, MPI_SEEK_SET));
      OK(MPI_File_write_all(file, values, count, MPI_INT, &status));
      break;
    case 3:
      OK(MPI_File_iwrite_at(file, from, values, count, MPI_INT, &request));
      OK(MPI_Wait(&request, &status));
      break;
    default:
      OK(MPI_File_seek(file, from, MPI_SEEK_SET));
      OK(MPI_File_write_all_begin(file, values, count, MPI_INT));
      OK(MPI_File_write_all_end(file, values, &status));
  }
  CHECK(count_of(status, MPI_INT) == count);
}

void random_views() {
  for (int round = 0; round < rounds(); ++round) {
    std::mt19937_64 random(seed * 1000 + static_cast<uint64_t>(round));  // the same on all ranks
    const auto all = interleaved(random);
    const Interleaved& mine = all[static_cast<size_t>(rank)];
    const int64_t displacement = 4 * std::uniform_int_distribution<int>(0, 5)(random);
    const int tiles = std::uniform_int_distribution<int>(1, 20)(random);
    MPI_File file = open_file("views", MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_view(file, displacement, MPI_INT, mine.filetype, "native", MPI_INFO_NULL));
    const auto per_tile = static_cast<int64_t>(mine.pieces.ints.size());
    std::vector<int> values(static_cast<size_t>(per_tile * tiles));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = value_of(rank, static_cast<int64_t>(i), round);
    // In two calls that meet anywhere. All ranks choose the same way: some are collective.
    const auto half = static_cast<int64_t>(values.size()) / 2;
    write_some(file, random, 0, values.data(), static_cast<int>(half));
    write_some(file, random, half, values.data() + half,
               static_cast<int>(values.size()) - static_cast<int>(half));
    MPI_File_close(&file);

    // The model: what every rank's ints are, byte by byte of the file.
    std::vector<unsigned char> model;
    for (int owner = 0; owner < ranks; ++owner) {
      const Interleaved& one = all[static_cast<size_t>(owner)];
      int64_t index = 0;
      for (int t = 0; t < tiles; ++t) {
        for (int64_t at : one.pieces.ints) {
          const auto place = static_cast<size_t>(displacement + t * one.tile + at);
          if (model.size() < place + 4) model.resize(place + 4, 0);
          const int value = value_of(owner, index++, round);
          const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
          std::copy(bytes, bytes + 4, model.begin() + static_cast<ptrdiff_t>(place));
        }
      }
    }
    CHECK(contents("views") == model);

    // Another rank's part, into memory of another random shape.
    const int other = (rank + 1) % ranks;
    const Interleaved& theirs = all[static_cast<size_t>(other)];
    std::mt19937_64 own_random(seed * 1000 + static_cast<uint64_t>(round * ranks + rank));
    RandomType memory = random_type(own_random, Order::any, 3);
    const auto per_item = static_cast<int64_t>(memory.ints.size());
    const auto there = static_cast<int64_t>(theirs.pieces.ints.size()) * tiles;
    const int64_t items = there / per_item;
    file = open_file("views", MPI_MODE_RDONLY);
    OK(MPI_File_set_view(file, displacement, MPI_INT, theirs.filetype, "native", MPI_INFO_NULL));
    const int64_t lowest = *std::min_element(memory.ints.begin(), memory.ints.end());
    const int64_t highest = *std::max_element(memory.ints.begin(), memory.ints.end());
    const int64_t room = items * memory.extent + (highest - lowest) + 8;
    std::vector<unsigned char> buffer(static_cast<size_t>(room), 0xAA);
    auto expected = buffer;
    for (int64_t i = 0; i < items * per_item; ++i) {
      const int value = value_of(other, i, round);
      const int64_t at =
          i / per_item * memory.extent + memory.ints[static_cast<size_t>(i % per_item)] - lowest;
      const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
      std::copy(bytes, bytes + 4, expected.begin() + at);
    }
    MPI_Status status;
    OK(MPI_File_read_all(file, buffer.data() - lowest, static_cast<int>(items), memory.type,
                         &status));
    CHECK(count_of(status, MPI_INT) == items * per_item);
    CHECK(buffer == expected);
    MPI_Offset at = 0;
    OK(MPI_File_get_byte_offset(file, 0, &at));
    CHECK(at == displacement + theirs.pieces.ints[0]);
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    MPI_File_close(&file);
    MPI_Type_free(&memory.type);
    for (const Interleaved& one : all) {
      MPI_Datatype type = one.filetype;
      MPI_Type_free(&type);
    }
    barrier();
  }
}

// A 2-d array in blocks of blocks: written by its owners, read as a whole.
void distributed_array() {
  constexpr int n = 12;
  constexpr int m = 10;
  std::array<int, 2> grid = {0, 0};
  MPI_Dims_create(ranks, 2, grid.data());
  for (const int distribution : {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}) {
    const std::array<int, 2> sizes = {n, m};
    const std::array<int, 2> distributions = {distribution, distribution};
    const std::array<int, 2> arguments = {
        distribution == MPI_DISTRIBUTE_CYCLIC ? 2 : MPI_DISTRIBUTE_DFLT_DARG,
        MPI_DISTRIBUTE_DFLT_DARG};
    MPI_Datatype filetype;
    MPI_Type_create_darray(ranks, rank, 2, sizes.data(), distributions.data(), arguments.data(),
                           grid.data(), MPI_ORDER_C, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    const auto owner = [&](int index, int size, int processes, int argument) {
      if (distribution == MPI_DISTRIBUTE_CYCLIC)
        return index / (argument == MPI_DISTRIBUTE_DFLT_DARG ? 1 : argument) % processes;
      return index / ((size + processes - 1) / processes);
    };
    std::vector<int> mine;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j)
        if (owner(i, n, grid[0], arguments[0]) * grid[1] + owner(j, m, grid[1], arguments[1]) ==
            rank)
          mine.push_back(i * m + j);
    int size = 0;
    MPI_Type_size(filetype, &size);
    CHECK(static_cast<size_t>(size) == 4 * mine.size());
    MPI_File file = open_file("darray", MPI_MODE_CREATE | MPI_MODE_RDWR);
    OK(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    OK(MPI_File_write_all(file, mine.data(), static_cast<int>(mine.size()), MPI_INT,
                          MPI_STATUS_IGNORE));
    MPI_File_close(&file);
    const auto bytes = contents("darray");
    CHECK(bytes.size() == n * m * sizeof(int));
    const auto* values = reinterpret_cast<const int*>(bytes.data());
    for (int i = 0; i < n * m && bytes.size() == n * m * sizeof(int); ++i) CHECK(values[i] == i);
    MPI_Type_free(&filetype);
    barrier();
  }
}

// A filetype of which nothing is, as the last ranks' shares of a small array: its view shows an
// empty file, wherever it begins.
void without_data() {
  MPI_Datatype nothing;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Datatype share;
  const std::array<int, 2> sizes = {9, 14};
  const std::array<int, 2> distributions = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC};
  const std::array<int, 2> arguments = {MPI_DISTRIBUTE_DFLT_DARG, 3};
  const std::array<int, 2> grid = {1, 7};
  MPI_Type_create_darray(7, 6, 2, sizes.data(), distributions.data(), arguments.data(), grid.data(),
                         MPI_ORDER_FORTRAN, MPI_INT, &share);
  for (MPI_Datatype type : {nothing, share}) {
    MPI_Type_commit(&type);
    for (const char* representation : {"NATIVE", "external32"}) {
      MPI_File file = open_file("empty", MPI_MODE_CREATE | MPI_MODE_RDWR);
      OK(MPI_File_set_size(file, 100));
      OK(MPI_File_set_view(file, 8, MPI_INT, type, representation, MPI_INFO_NULL));
      MPI_Offset at = -1;
      OK(MPI_File_seek(file, 0, MPI_SEEK_END));
      OK(MPI_File_get_position(file, &at));
      CHECK(at == 0);
      OK(MPI_File_get_byte_offset(file, 2, &at));
      CHECK(at == 8);
      std::array<int, 4> values = {1, 2, 3, 4};
      MPI_Status status;
      OK(MPI_File_write_at_all(file, 0, values.data(), 0, MPI_INT, &status));
      OK(MPI_File_read_at_all(file, 0, values.data(), 4, MPI_INT, &status));
      CHECK(count_of(status, MPI_INT) == 0);
      MPI_Datatype strided;
      MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
      MPI_Type_commit(&strided);
      OK(MPI_File_read(file, values.data(), 1, strided, &status));
      CHECK(count_of(status, MPI_INT) == 0);
      MPI_Type_free(&strided);
      CHECK((values == std::array<int, 4>{1, 2, 3, 4}));
      CHECK_CLASS(MPI_File_write_at(file, 0, values.data(), 2, MPI_INT, &status), MPI_ERR_IO);
      CHECK(count_of(status, MPI_INT) == 0);
      MPI_File_close(&file);
    }
    MPI_Type_free(&type);
  }
}

void refused() {
  MPI_File file = open_file("refused", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const auto view = [&](MPI_Offset at, MPI_Datatype etype, MPI_Datatype filetype,
                        const char* name) {
    return MPI_File_set_view(file, at, etype, filetype, name, MPI_INFO_NULL);
  };
  CHECK_CLASS(view(0, MPI_INT, MPI_INT, "no such representation"), MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_CLASS(view(-5, MPI_INT, MPI_INT, "native"), MPI_ERR_ARG);
  const std::array<int, 2> lengths = {1, 1};
  for (const std::array<int, 2>& places : {std::array<int, 2>{3, 0}, std::array<int, 2>{-1, 1}}) {
    MPI_Datatype type;
    MPI_Type_indexed(2, lengths.data(), places.data(), MPI_INT, &type);
    MPI_Type_commit(&type);
    int code = view(0, MPI_INT, type, "native");
    CHECK(code != MPI_SUCCESS);
    MPI_Type_free(&type);
  }
  MPI_Datatype three;
  MPI_Type_contiguous(3, MPI_BYTE, &three);
  // Data are moved by committed types only.
  char bytes[3] = {};
  CHECK_CLASS(view(0, MPI_BYTE, three, "native"), MPI_ERR_TYPE);
  CHECK_CLASS(view(0, three, three, "native"), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_write_at(file, 0, bytes, 1, three, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_read_all(file, bytes, 0, three, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  MPI_Type_commit(&three);
  OK(MPI_File_read_at(file, 0, bytes, 1, three, MPI_STATUS_IGNORE));
  OK(view(0, three, three, "native"));
  OK(view(0, MPI_BYTE, MPI_BYTE, "native"));
  CHECK(view(0, MPI_INT, three, "native") != MPI_SUCCESS);
  MPI_Type_free(&three);
  // The old view is still there.
  OK(MPI_File_write_at(file, rank, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_File_close(&file);
}

}  // namespace

void test_views() {
  random_views();
  distributed_array();
  without_data();
  refused();
}
