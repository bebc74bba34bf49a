#include "sets/ckpt_reader.h"

#include <algorithm>

#include "text/error.h"

namespace cairn::cli {

void CkptReader::read(const CkptVariable& variable, const Slab& slab, uint8_t* elements) const {
  cairn_array array{};
  array.struct_size = sizeof array;
  array.type = variable.type;
  array.element_size = variable.element_size;
  array.dimensions = static_cast<uint32_t>(variable.shape.size());
  array.base = elements;
  std::copy(slab.count.begin(), slab.count.end(), array.extent);
  check(cairn_checkpoint_read_var(set_.get(), version_, variable.name.c_str(), slab.offset.data(),
                                  slab.count.data(), &array),
        fmt::format("{}: version {}", set_.name(), version_text(version_)));
}

void CkptReader::for_each_slab(
    const CkptVariable& variable,
    const std::function<bool(const Slab& slab, const uint8_t* elements)>& visit) {
  const uint64_t most = std::max<uint64_t>(most_bytes / variable.element_size, 1);
  buffer_.resize(std::max<size_t>(
      buffer_.size(),
      static_cast<size_t>(std::min(most, variable.elements()) * variable.element_size)));
  cli::for_each_slab(variable.shape, most, [&](const Slab& slab) {
    read(variable, slab, buffer_.data());
    return visit(slab, buffer_.data());
  });
}

}  // namespace cairn::cli
