#include "random_type.h"

#include <algorithm>
#include <numeric>

namespace {

using Random = std::mt19937_64;

int pick(Random& random, int from, int to) {
  return std::uniform_int_distribution<int>(from, to)(random);
}

// Copies of `part`, each `place` bytes on; bounds as the standard has them.
RandomType laid(const RandomType& part, const std::vector<int64_t>& places) {
  RandomType made;
  int64_t lower = INT64_MAX;
  int64_t upper = INT64_MIN;
  for (int64_t place : places) {
    for (int64_t at : part.ints) made.ints.push_back(place + at);
    lower = std::min(lower, place + part.lb);
    upper = std::max(upper, place + part.lb + part.extent);
  }
  made.lb = lower;
  made.extent = upper - lower;
  return made;
}

std::vector<int64_t> blocks(const std::vector<int>& lengths, const std::vector<int64_t>& places,
                            int64_t extent) {
  std::vector<int64_t> all;
  for (size_t b = 0; b < lengths.size(); ++b)
    for (int i = 0; i < lengths[b]; ++i) all.push_back(places[b] + i * extent);
  return all;
}

// Lengths of some blocks, and displacements in items at which they do not touch each other.
void some_blocks(Random& random, Order order, std::vector<int>& lengths, std::vector<int>& places) {
  const int count = pick(random, 1, 4);
  int at = pick(random, 0, 2);
  for (int i = 0; i < count; ++i) {
    lengths.push_back(pick(random, 1, 3));
    places.push_back(at);
    at += lengths.back() + pick(random, 0, 3);
  }
  if (order == Order::rising) return;
  std::vector<size_t> shuffled(lengths.size());
  std::iota(shuffled.begin(), shuffled.end(), size_t{0});
  std::shuffle(shuffled.begin(), shuffled.end(), random);
  const auto old_lengths = lengths;
  const auto old_places = places;
  for (size_t i = 0; i < shuffled.size(); ++i) {
    lengths[i] = old_lengths[shuffled[i]];
    places[i] = old_places[shuffled[i]];
  }
}

RandomType vector_of(Random& random, const RandomType& part) {
  const int count = pick(random, 1, 4);
  const int length = pick(random, 1, 3);
  const int stride = length + pick(random, 0, 3);
  std::vector<int64_t> places;
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < length; ++k) places.push_back((int64_t{i} * stride + k) * part.extent);
  RandomType made = laid(part, places);
  if (pick(random, 0, 1) == 0)
    MPI_Type_vector(count, length, stride, part.type, &made.type);
  else
    MPI_Type_create_hvector(count, length, stride * part.extent, part.type, &made.type);
  return made;
}

RandomType indexed_of(Random& random, Order order, const RandomType& part) {
  std::vector<int> lengths;
  std::vector<int> places;
  some_blocks(random, order, lengths, places);
  const auto count = static_cast<int>(lengths.size());
  const int kind = pick(random, 0, 4);
  if (kind >= 3) lengths.assign(lengths.size(), 1);
  std::vector<int64_t> bytes;
  for (int place : places) bytes.push_back(place * part.extent);
  const std::vector<MPI_Aint> addresses(bytes.begin(), bytes.end());
  RandomType made = laid(part, blocks(lengths, bytes, part.extent));
  const std::vector<MPI_Datatype> types(lengths.size(), part.type);
  switch (kind) {
    case 0:
      MPI_Type_indexed(count, lengths.data(), places.data(), part.type, &made.type);
      break;
    case 1:
      MPI_Type_create_hindexed(count, lengths.data(), addresses.data(), part.type, &made.type);
      break;
    case 2:
      MPI_Type_create_struct(count, lengths.data(), addresses.data(), types.data(), &made.type);
      break;
    case 3:
      MPI_Type_create_indexed_block(count, 1, places.data(), part.type, &made.type);
      break;
    default:
      MPI_Type_create_hindexed_block(count, 1, addresses.data(), part.type, &made.type);
  }
  return made;
}

RandomType subarray_of(Random& random, const RandomType& part) {
  const int dims = pick(random, 1, 3);
  const int order = pick(random, 0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  std::vector<int> sizes, subsizes, starts;
  for (int d = 0; d < dims; ++d) {
    sizes.push_back(pick(random, 1, 4));
    subsizes.push_back(pick(random, 1, sizes.back()));
    starts.push_back(pick(random, 0, sizes.back() - subsizes.back()));
  }
  const int total = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<>());
  std::vector<int64_t> places;
  for (int i = 0; i < total; ++i) {  // in the order of the array
    int rest = i;
    bool inside = true;
    for (int k = 0; k < dims; ++k) {
      const auto d = static_cast<size_t>(order == MPI_ORDER_C ? dims - 1 - k : k);
      const int index = rest % sizes[d];
      rest /= sizes[d];
      inside = inside && index >= starts[d] && index < starts[d] + subsizes[d];
    }
    if (inside) places.push_back(i * part.extent);
  }
  RandomType made = laid(part, places);
  made.lb = 0;
  made.extent = total * part.extent;
  MPI_Type_create_subarray(dims, sizes.data(), subsizes.data(), starts.data(), order, part.type,
                           &made.type);
  return made;
}

RandomType resized_of(Random& random, Order order, const RandomType& part) {
  RandomType made = part;
  made.extent = part.extent + 4 * pick(random, 0, 4);
  if (order == Order::any) made.lb = part.lb - 4 * pick(random, 0, 3);
  MPI_Type_create_resized(part.type, made.lb, made.extent, &made.type);
  return made;
}

RandomType contiguous_of(Random& random, const RandomType& part) {
  const int count = pick(random, 1, 4);
  std::vector<int64_t> places;
  for (int i = 0; i < count; ++i) places.push_back(i * part.extent);
  RandomType made = laid(part, places);
  MPI_Type_contiguous(count, part.type, &made.type);
  return made;
}

}  // namespace

RandomType random_type(Random& random, Order order, int depth) {
  RandomType made;
  MPI_Type_dup(MPI_INT, &made.type);
  made.ints = {0};
  made.extent = 4;
  for (int level = 0; level < depth; ++level) {
    const RandomType part = made;
    switch (pick(random, 0, 4)) {
      case 0:
        made = contiguous_of(random, part);
        break;
      case 1:
        made = vector_of(random, part);
        break;
      case 2:
        made = indexed_of(random, order, part);
        break;
      case 3:
        // Its lower bound is 0 whatever the part's is: pieces could lie below, or on each other.
        made = part.lb == 0 ? subarray_of(random, part) : contiguous_of(random, part);
        break;
      default:
        made = resized_of(random, order, part);
    }
    MPI_Datatype old = part.type;
    MPI_Type_free(&old);
  }
  MPI_Type_commit(&made.type);
  return made;
}
