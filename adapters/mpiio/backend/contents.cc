#include "mpiio/backend/contents.h"

#include <cstddef>

namespace mpiio {
namespace {

// How many of each a type was made of.
struct Envelope {
#if MPI_VERSION >= 4
  MPI_Count numbers = 0, addresses = 0, counts = 0, types = 0;
#else
  int numbers = 0, addresses = 0, types = 0;
#endif
  int combiner = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype datatype) {
  Envelope e;
#if MPI_VERSION >= 4
  PMPI_Type_get_envelope_c(datatype, &e.numbers, &e.addresses, &e.counts, &e.types, &e.combiner);
#else
  PMPI_Type_get_envelope(datatype, &e.numbers, &e.addresses, &e.types, &e.combiner);
#endif
  return e;
}

#if MPI_VERSION >= 4
size_t at(int64_t i) { return static_cast<size_t>(i); }

// Of a type made with MPI_Count arguments: puts each where the other call would have put it.
void sort_counts(const std::vector<int>& integers, const std::vector<MPI_Count>& counts,
                 Contents& made) {
  auto& n = made.numbers;
  auto& a = made.addresses;
  const auto numbers = [&](size_t from, size_t to) {
    n.insert(n.end(), counts.begin() + static_cast<ptrdiff_t>(from),
             counts.begin() + static_cast<ptrdiff_t>(to));
  };
  const auto addresses = [&](size_t from, size_t to) {
    a.insert(a.end(), counts.begin() + static_cast<ptrdiff_t>(from),
             counts.begin() + static_cast<ptrdiff_t>(to));
  };
  switch (made.combiner) {
    case MPI_COMBINER_HVECTOR:
      numbers(0, 2);
      addresses(2, 3);
      break;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
      numbers(0, at(counts[0]) + 1);
      addresses(at(counts[0]) + 1, counts.size());
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      numbers(0, 2);
      addresses(2, counts.size());
      break;
    case MPI_COMBINER_RESIZED:
      addresses(0, 2);
      break;
    case MPI_COMBINER_SUBARRAY:
      n.push_back(integers[0]);
      numbers(0, counts.size());
      n.push_back(integers[1]);
      break;
    case MPI_COMBINER_DARRAY:
      n.assign(integers.begin(), integers.begin() + 3);
      numbers(0, counts.size());
      n.insert(n.end(), integers.begin() + 3, integers.end());
      break;
    default:  // all are numbers
      numbers(0, counts.size());
  }
}
#endif

}  // namespace

Contents::Contents(MPI_Datatype datatype) {
  const Envelope e = envelope_of(datatype);
  combiner = e.combiner;
  if (e.types == 0) return;
  std::vector<int> integers(static_cast<size_t>(e.numbers));
  std::vector<MPI_Aint> places(static_cast<size_t>(e.addresses));
  types.resize(static_cast<size_t>(e.types));
#if MPI_VERSION >= 4
  std::vector<MPI_Count> counts(static_cast<size_t>(e.counts));
  PMPI_Type_get_contents_c(datatype, e.numbers, e.addresses, e.counts, e.types, integers.data(),
                           places.data(), counts.data(), types.data());
  if (e.counts != 0) {
    sort_counts(integers, counts, *this);
    return;
  }
#else
  PMPI_Type_get_contents(datatype, e.numbers, e.addresses, e.types, integers.data(), places.data(),
                         types.data());
#endif
  numbers.assign(integers.begin(), integers.end());
  addresses.assign(places.begin(), places.end());
}

// The handles are new ones, but for predefined types.
Contents::~Contents() {
  for (MPI_Datatype& type : types)
    if (!is_predefined(type)) PMPI_Type_free(&type);
}

bool is_predefined(MPI_Datatype datatype) {
  const int combiner = envelope_of(datatype).combiner;
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace mpiio
