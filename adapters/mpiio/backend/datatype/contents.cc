#include "mpiio/backend/datatype/contents.h"

#include <cstddef>

#include "mpiio/backend/base/host_pointer.h"

namespace mpiio {
namespace {

// The functions of an MPI with MPI_Count (4.0 on); null otherwise. The loaded MPI may be newer or
// older than the header at build time.
using GetEnvelope = int (*)(MPI_Datatype, MPI_Count*, MPI_Count*, MPI_Count*, MPI_Count*, int*);
using GetContents = int (*)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int*,
                            MPI_Aint*, MPI_Count*, MPI_Datatype*);
const GetEnvelope& get_envelope_c() {
  static const auto function =
      reinterpret_cast<GetEnvelope>(host->real("PMPI_Type_get_envelope_c"));
  return function;
}
const GetContents& get_contents_c() {
  static const auto function =
      reinterpret_cast<GetContents>(host->real("PMPI_Type_get_contents_c"));
  return function;
}

// The numbers of arguments that a type was made of.
struct Envelope {
  MPI_Count numbers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype datatype) {
  Envelope e;
  if (get_envelope_c() != nullptr) {
    get_envelope_c()(datatype, &e.numbers, &e.addresses, &e.counts, &e.types, &e.combiner);
    return e;
  }
  int numbers = 0;
  int addresses = 0;
  int types = 0;
  PMPI_Type_get_envelope(datatype, &numbers, &addresses, &types, &e.combiner);
  e.numbers = numbers;
  e.addresses = addresses;
  e.types = types;
  return e;
}

size_t at(int64_t i) { return static_cast<size_t>(i); }

// Sorts the arguments of a type made with MPI_Count: each goes where the other call would have put
// it.
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

}  // namespace

Contents::Contents(MPI_Datatype datatype) {
  const Envelope e = envelope_of(datatype);
  combiner = e.combiner;
  if (e.types == 0) return;
  std::vector<int> integers(static_cast<size_t>(e.numbers));
  std::vector<MPI_Aint> places(static_cast<size_t>(e.addresses));
  types.resize(static_cast<size_t>(e.types));
  if (get_contents_c() != nullptr) {
    std::vector<MPI_Count> counts(static_cast<size_t>(e.counts));
    get_contents_c()(datatype, e.numbers, e.addresses, e.counts, e.types, integers.data(),
                     places.data(), counts.data(), types.data());
    if (e.counts != 0) {
      sort_counts(integers, counts, *this);
      return;
    }
  } else {
    PMPI_Type_get_contents(datatype, static_cast<int>(e.numbers), static_cast<int>(e.addresses),
                           static_cast<int>(e.types), integers.data(), places.data(), types.data());
  }
  numbers.assign(integers.begin(), integers.end());
  addresses.assign(places.begin(), places.end());
}

// The handles are new ones, except for predefined types.
Contents::~Contents() {
  for (MPI_Datatype& type : types)
    if (!is_predefined(type)) PMPI_Type_free(&type);
}

int combiner_of(MPI_Datatype datatype) { return envelope_of(datatype).combiner; }

bool is_predefined(MPI_Datatype datatype) {
  const int combiner = combiner_of(datatype);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

}  // namespace mpiio
