// The words that this process stores to a pool, seen by a test: it may be killed between any two of
// them.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "capi/core/handles.h"
#include "persist/machine/machine.h"
#include "pool/core/pool.h"

namespace cairn::test {

// Called before each store of this process to a word of the pool; stores are counted from 1.
using StoreHook = std::function<void(uint64_t number)>;

namespace detail {
inline StoreHook& store_hook() {
  static StoreHook one;
  return one;
}
inline std::atomic<uint64_t> stores{0};

inline uint64_t store_word(persist::RegionState& /*region*/, uint64_t* word,
                           persist::WordOperation operation, uint64_t value, uint64_t expected) {
  store_hook()(++stores);
  return persist::perform(word, operation, value, expected);
}
}  // namespace detail

// Nothing uses the pool at this moment.
inline void set_store_hook(pool::Pool& pool, StoreHook hook) {
  static const persist::Backend backend = [] {
    persist::Backend telling = persist::generic_backend;
    telling.word = detail::store_word;
    return telling;
  }();
  detail::store_hook() = std::move(hook);
  detail::stores = 0;
  for (uint32_t i = 0; i < pool.segments.load(); ++i) {
    persist::Region& region = pool.segment[i]->region;
    persist::RegionOptions options;
    options.base = region.base();
    options.size = region.size();
    options.fd = region.fd();
    region.close();
    ASSERT_TRUE(region.open(options, &backend, nullptr).ok());
  }
}

inline void set_store_hook(cairn_pool* pool, StoreHook hook) {
  set_store_hook(capi::fs_of(pool).pool, std::move(hook));
}

}  // namespace cairn::test
