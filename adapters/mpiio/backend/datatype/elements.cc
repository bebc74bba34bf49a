#include "mpiio/backend/datatype/elements.h"

#include <cstddef>
#include <numeric>

#include "mpiio/backend/datatype/contents.h"

namespace mpiio {
namespace {

void append(std::vector<Element>& all, const std::vector<Element>& part, int64_t times) {
  if (part.size() == 1 && times > 0) {
    if (!all.empty() && all.back().type == part[0].type)
      all.back().count += part[0].count * times;
    else
      all.push_back({part[0].type, part[0].count * times});
    return;
  }
  for (int64_t i = 0; i < times; ++i) all.insert(all.end(), part.begin(), part.end());
}

// Returns how many copies of its one part a type consists of.
int64_t parts_of(const Contents& made) {
  const auto& n = made.numbers;
  switch (made.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      return n[0];
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
      return n[0] * n[1];
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
      return std::accumulate(n.begin() + 1, n.begin() + 1 + n[0], int64_t{0});
    default:
      return 1;
  }
}

}  // namespace

std::vector<Element> elements_of(MPI_Datatype datatype) {
  if (is_predefined(datatype)) return {{datatype, 1}};
  std::vector<Element> all;
  const Contents made(datatype);
  if (made.combiner == MPI_COMBINER_STRUCT) {
    for (size_t i = 0; i < made.types.size(); ++i)
      append(all, elements_of(made.types[i]), made.numbers[1 + i]);
    return all;
  }
  const auto part = elements_of(made.types[0]);
  int64_t parts = parts_of(made);
  if (made.combiner == MPI_COMBINER_SUBARRAY || made.combiner == MPI_COMBINER_DARRAY) {
    MPI_Count size = 0;
    MPI_Count of_part = 0;
    PMPI_Type_size_x(datatype, &size);
    PMPI_Type_size_x(made.types[0], &of_part);
    parts = of_part == 0 ? 0 : size / of_part;
  }
  append(all, part, parts);
  return all;
}

}  // namespace mpiio
