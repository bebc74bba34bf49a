#include "tier/pool_stores.h"

#include <gtest/gtest.h>

#include <atomic>

#include "capi/handles.h"

namespace cairn::test {
namespace {

StoreHook& hook() {
  static StoreHook one;
  return one;
}

std::atomic<uint64_t> stores{0};

uint64_t store_word(persist::Region& /*region*/, uint64_t* word, persist::WordOperation operation,
                    uint64_t value, uint64_t expected) {
  hook()(++stores);
  return persist::perform(word, operation, value, expected);
}

}  // namespace

void set_store_hook(cairn_pool* pool, StoreHook other) {
  static const persist::Backend backend = [] {
    persist::Backend telling = persist::generic_backend;
    telling.word = store_word;
    return telling;
  }();
  hook() = std::move(other);
  stores = 0;
  pool::Pool& opened = capi::fs_of(pool).pool;
  for (uint32_t i = 0; i < opened.segments.load(); ++i) {
    persist::Region& region = opened.segment[i]->region;
    persist::RegionOptions options;
    options.base = region.base();
    options.size = region.size();
    options.fd = region.fd();
    region.close();
    ASSERT_TRUE(region.open(options, &backend, nullptr).ok());
  }
}

}  // namespace cairn::test
