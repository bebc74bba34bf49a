// Layouts for the unit tests of checkpoint.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/array/box_table.h"
#include "checkpoint/layout/contents.h"
#include "support/made_decompositions.h"

namespace cairn::checkpoint {

// Cuts [0, extent) into as many pieces as there are ranks; the grid of one dimension.
inline Decomposition cut_evenly(uint32_t ranks, uint64_t extent, uint64_t columns) {
  std::vector<uint8_t> entries;
  uint64_t from = 0;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const uint64_t count = extent / ranks + (rank < extent % ranks ? 1 : 0);
    append_box(&entries, rank, {2, {from, 0}, {count, columns}});
    from += count;
  }
  auto made = make_boxes(ranks, {2, {}, {extent, columns}}, Owner::nobody, entries);
  EXPECT_TRUE(made.ok()) << last_detail();
  return std::move(*made);
}

// A layout and what it is made of, for changes.
struct SampleContents {
  LayoutDefinition definition;
  std::vector<Decomposition> decompositions;

  const Decomposition& add(Decomposition decomposition) {
    decompositions.push_back(std::move(decomposition));
    return decompositions.back();
  }
  VariableDefinition& define(const std::string& name, Type type, uint64_t size,
                             const Decomposition& decomposition) {
    VariableDefinition variable;
    variable.name = name;
    variable.type = type;
    variable.element_size = size;
    variable.decomposition = decomposition.hash();
    variable.dimensions = decomposition.is_counted() ? 1 : decomposition.dimensions();
    variable.order = plain_order();
    definition.variables.push_back(std::move(variable));
    return definition.variables.back();
  }
  // Once: takes the decompositions away.
  Result<Contents> contents() {
    auto layout = Layout::make(definition);
    if (!layout.ok()) return layout.status();
    std::vector<Decomposition> sorted;
    for (uint32_t i = 0; i < layout->decompositions(); ++i)
      for (Decomposition& decomposition : decompositions)
        if (decomposition.hash() == layout->decomposition_hash(i)) {
          auto again = Decomposition::read(decomposition.record());
          EXPECT_TRUE(again.ok()) << last_detail();
          sorted.push_back(std::move(*again));
          break;
        }
    return Contents::make(std::move(*layout), std::move(sorted));
  }
};

// Some variables of each kind, for four ranks.
inline SampleContents sample_contents() {
  constexpr uint32_t ranks = 4;
  SampleContents sample;
  sample.definition.ranks = ranks;
  sample.decompositions.reserve(8);
  const auto replicated = make_replicated(ranks, {1, {}, {5}});
  const auto scalar = make_replicated(ranks, {});
  const auto particles = make_counted(DecompositionKind::particles, ranks);
  const auto ragged = make_counted(DecompositionKind::ragged, ranks);
  EXPECT_TRUE(replicated.ok() && scalar.ok() && particles.ok() && ragged.ok());
  const Decomposition& cells = sample.add(cut_evenly(ranks, 6, 3000));
  sample.define("u", Type::float64, 8, cells).halo_low = {1, 2};
  sample.define("count", Type::int32, 4, cells);
  for (const auto* one : {&replicated, &scalar, &particles, &ragged}) {
    auto copy = Decomposition::read((*one)->record());
    EXPECT_TRUE(copy.ok());
    sample.add(std::move(*copy));
  }
  sample.define("zlevels", Type::float32, 4, *replicated).aliases = {"z", "height"};
  sample.define("time", Type::float64, 8, *scalar).is_required = false;
  sample.define("soil", Type::opaque, 24, *ragged).over = "count";
  VariableDefinition& mass = sample.define("mass", Type::float32, 4, *particles);
  mass.over = "u";
  mass.key = "cell";
  sample.define("cell", Type::int64, 8, *particles).over = "u";
  return sample;
}

}  // namespace cairn::checkpoint
