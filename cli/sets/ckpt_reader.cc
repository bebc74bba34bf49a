#include "sets/ckpt_reader.h"

#include <algorithm>

#include "text/error.h"

namespace cairn::cli {

cairn_array CkptReader::array_of(const CkptVariable& variable, const Slab& slab,
                                 uint8_t* elements) {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = variable.type;
  array.element_size = variable.element_size;
  array.dimensions = static_cast<uint32_t>(slab.count.size());
  array.base = elements;
  std::copy(slab.count.begin(), slab.count.end(), array.extent);
  return array;
}

void CkptReader::check_read(int result) const {
  check(result, fmt::format("{}: version {}", set_.name(), version_text(version_)));
}

void CkptReader::read(const CkptVariable& variable, const Slab& slab, uint8_t* elements) const {
  const cairn_array array = array_of(variable, slab, elements);
  check_read(cairn_checkpoint_read_var(set_.get(), version_, variable.name.c_str(),
                                       slab.offset.data(), slab.count.data(), &array));
}

uint64_t CkptReader::make_room(const CkptVariable& variable, uint64_t elements) {
  const uint64_t most = std::max<uint64_t>(most_bytes / variable.element_size, 1);
  buffer_.resize(std::max<size_t>(
      buffer_.size(), static_cast<size_t>(std::min(most, elements) * variable.element_size)));
  return most;
}

void CkptReader::for_each_slab(
    const CkptVariable& variable,
    const std::function<bool(const Slab& slab, const uint8_t* elements)>& visit) {
  const uint64_t most = make_room(variable, variable.elements());
  cli::for_each_slab(variable.shape, most, [&](const Slab& slab) {
    read(variable, slab, buffer_.data());
    return visit(slab, buffer_.data());
  });
}

void CkptReader::for_each_slab_of(const CkptVariable& variable, const CkptPiece& piece,
                                  const Visit& visit, uint64_t most_elements) {
  const std::vector<uint64_t> shape(piece.count.begin(), piece.count.end());
  uint64_t elements = 1;
  for (const uint64_t extent : shape) elements *= extent;
  const uint64_t most = std::min(make_room(variable, elements), most_elements);
  cli::for_each_slab(shape, most, [&](const Slab& within) {
    Slab slab = within;
    for (size_t k = 0; k < slab.offset.size(); ++k) slab.offset[k] += piece.offset[k];
    read(variable, slab, buffer_.data());
    return visit(slab, buffer_.data());
  });
}

void CkptReader::for_each_slab_of_rank(const CkptVariable& variable, const CkptPiece& piece,
                                       const Visit& visit) {
  const auto elements = static_cast<uint64_t>(piece.count[0]);
  const uint64_t most = make_room(variable, elements);
  cli::for_each_slab({elements}, most, [&](const Slab& slab) {
    const cairn_array array = array_of(variable, slab, buffer_.data());
    check_read(cairn_checkpoint_read_rank(set_.get(), version_, variable.name.c_str(), piece.rank,
                                          slab.offset[0], &array));
    return visit(slab, buffer_.data());
  });
}

void CkptReader::for_each_slab_of_lists(const CkptVariable& variable, const Slab& cells,
                                        uint64_t elements, const Visit& visit) {
  const uint64_t most = make_room(variable, elements);
  cli::for_each_slab({elements}, most, [&](const Slab& slab) {
    const cairn_array array = array_of(variable, slab, buffer_.data());
    check_read(cairn_checkpoint_read_lists(set_.get(), version_, variable.name.c_str(),
                                           cells.offset.data(), cells.count.data(), slab.offset[0],
                                           &array));
    return visit(slab, buffer_.data());
  });
}

}  // namespace cairn::cli
