#include "ckpt/whole_export.h"

#include <algorithm>

#include "netcdf/netcdf_form.h"

namespace cairn::cli {

RankCounts counts_of(const CkptSet& set, int64_t number) {
  RankCounts counts;
  for (const CkptVariable& one : set.variables(number))
    if (one.is_counted()) counts[one.name] = set.counts(number, one);
  return counts;
}

bool WholeExport::run() {
  std::optional<TempFile> beside;
  if (content_.has_beside()) {
    beside.emplace(path_ + beside_suffix, may_replace_);
    if (!fill(*beside, true)) return false;
  }
  TempFile file(path_, may_replace_);
  if (!fill(file, false)) return false;
  progress_.hide();
  if (beside) beside->publish();
  file.publish();
  return true;
}

bool WholeExport::fill(TempFile& file, bool is_beside) {
  const std::vector<NetcdfPlace> places = content_.make_skeleton(file.data(), is_beside);
  return write_and_compare(file.data(), path_, content_, [&](const PutBytes& put) {
    return std::all_of(places.begin(), places.end(),
                       [&](const NetcdfPlace& place) { return put_all(place, put); });
  });
}

bool WholeExport::put_all(const NetcdfPlace& place, const PutBytes& put) {
  const CkptVariable& variable = content_.variables()[place.variable];
  const uint64_t unit = content_.unit(place.variable);
  if (const std::vector<int64_t>* const values = content_.values(place.variable)) {
    put(place.variable, reinterpret_cast<const uint8_t*>(values->data()), values->size() * unit,
        place.offset);
    return true;
  }
  reader_.for_each_slab(variable, [&](const Slab& slab, const uint8_t* elements) {
    put(place.variable, content_.in_file(place.variable, elements, slab.elements, &converted_),
        slab.elements * unit, place.offset + slab.first * unit);
    done_ += slab.elements * variable.element_size;
    progress_.show(done_ / 2, content_.bytes());  // written, and read back
    return stop_signal() == 0;
  });
  return stop_signal() == 0;
}

}  // namespace cairn::cli
