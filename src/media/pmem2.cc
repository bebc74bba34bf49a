#include "media/pmem2.h"

#include <dlfcn.h>

namespace cairn::media {
namespace {

using persist::Granularity;

// The part of libpmem2.h that is needed; its ABI is stable.
struct pmem2_config;
struct pmem2_source;
struct pmem2_map;
enum Pmem2Granularity { pmem2_byte = 0, pmem2_cache_line = 1, pmem2_page = 2 };

struct Functions {
  int (*config_new)(pmem2_config**);
  int (*config_delete)(pmem2_config**);
  int (*set_granularity)(pmem2_config*, Pmem2Granularity);
  int (*source_from_fd)(pmem2_source**, int);
  int (*source_delete)(pmem2_source**);
  int (*map_new)(pmem2_map**, const pmem2_config*, const pmem2_source*);
  int (*map_delete)(pmem2_map**);
  Pmem2Granularity (*get_granularity)(pmem2_map*);
};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool load(Functions& f) {
  void* library = dlopen("libpmem2.so.1", RTLD_NOW | RTLD_LOCAL);
  return library != nullptr && find(library, "pmem2_config_new", f.config_new) &&
         find(library, "pmem2_config_delete", f.config_delete) &&
         find(library, "pmem2_config_set_required_store_granularity", f.set_granularity) &&
         find(library, "pmem2_source_from_fd", f.source_from_fd) &&
         find(library, "pmem2_source_delete", f.source_delete) &&
         find(library, "pmem2_map_new", f.map_new) &&
         find(library, "pmem2_map_delete", f.map_delete) &&
         find(library, "pmem2_map_get_store_granularity", f.get_granularity);
}

}  // namespace

Granularity pmem2_granularity(int descriptor, Granularity otherwise) {
  Functions f = {};
  if (!load(f)) return otherwise;
  Granularity answer = otherwise;
  pmem2_config* config = nullptr;
  pmem2_source* source = nullptr;
  pmem2_map* map = nullptr;
  if (f.config_new(&config) == 0 && f.set_granularity(config, pmem2_page) == 0 &&
      f.source_from_fd(&source, descriptor) == 0 && f.map_new(&map, config, source) == 0) {
    switch (f.get_granularity(map)) {
      case pmem2_byte:
        answer = Granularity::byte;
        break;
      case pmem2_cache_line:
        answer = Granularity::cache_line;
        break;
      case pmem2_page:
        answer = Granularity::page;
        break;
    }
    f.map_delete(&map);
  }
  if (source != nullptr) f.source_delete(&source);
  if (config != nullptr) f.config_delete(&config);
  return answer;
}

}  // namespace cairn::media
