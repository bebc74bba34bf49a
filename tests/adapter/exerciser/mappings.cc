// Mappings: what is stored through them is what descriptors read, and the other way round.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "adapter/exerciser/worlds.h"

namespace exerciser {

// A mapping of its own file, which nobody cuts: an access beyond the end would be a fault.
bool Exerciser::mapping_step() {
  const std::string which = "mapped-" + std::to_string(below(2));
  if (mappings_.size() < 3 && (mappings_.empty() || one_in(5))) {
    const size_t size = 1 + below(100000);
    const int kind = one_in(4) ? MAP_PRIVATE : MAP_SHARED;
    Mapping mapping{{}, size, true};
    const bool same =
        both("map " + which + " " + std::to_string(size), [&](int w, std::string*) -> long {
          const int fd = open(path(w, which).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
          struct stat st {};
          fstat(fd, &st);
          if (static_cast<size_t>(st.st_size) < size &&
              ftruncate(fd, static_cast<off_t>(size)) != 0)
            return -1;
          void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, kind, fd, 0);
          close(fd);
          mapping.memory[w] = static_cast<char*>(memory);
          return memory == MAP_FAILED ? -1 : 0;
        });
    if (same && last_.value == 0) mappings_.push_back(mapping);
    return same;
  }
  const size_t number = below(mappings_.size());
  const Mapping mapping = mappings_[number];
  const size_t at = below(mapping.size), count = std::min(mapping.size - at, size());
  switch (below(6)) {
    case 0:
    case 1:
      return both("store", [&, from = bytes(count)](int w, std::string*) {
        std::memcpy(mapping.memory[w] + at, from.data(), count);
        return 0L;
      });
    case 2:
      return both("load", [&](int w, std::string* data) {
        data->assign(mapping.memory[w] + at, count);
        return 0L;
      });
    case 3:
      return both("write beside " + which, [&, from = bytes(count)](int w, std::string*) -> long {
        const int fd = open(path(w, which).c_str(), O_RDWR | O_CLOEXEC);
        if (fd < 0) return -1;
        const ssize_t put = pwrite(fd, from.data(), count, static_cast<off_t>(at));
        close(fd);
        return put;
      });
    case 4:
      return both("msync", [&](int w, std::string*) {
        return msync(mapping.memory[w], mapping.size, MS_SYNC);
      });
    default:
      mappings_.erase(mappings_.begin() + static_cast<long>(number));
      return both("munmap",
                  [&](int w, std::string*) { return munmap(mapping.memory[w], mapping.size); });
  }
}

}  // namespace exerciser
