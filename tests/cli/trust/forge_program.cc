// Makes a pool lie: forge_program POOL COMMAND..., each command one of
//   name DIR BEFORE AFTER    the name in DIR is AFTER from now on; %00 and the like are bytes
//   to DIR NAME PATH         the name leads to what PATH is
//   removed DIR NAME         the name was removed
//   device DIR NAME          the file is a device, with the numbers of /dev/null
#include <sys/sysmacros.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "damage/forge.h"

namespace {

std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      bytes += text[i];
      continue;
    }
    bytes += static_cast<char>(std::strtol(text.substr(i + 1, 2).c_str(), nullptr, 16));
    i += 2;
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  cairn_pool* pool = nullptr;
  if (argc < 2 || cairn_pool_attach(argv[1], 0, &pool) != 0) {
    std::fprintf(stderr, "%s\n", cairn_last_error());
    return 1;
  }
  const auto ino = [&](const char* path) {
    cairn_stat st{};
    if (cairn_lookup(pool, CAIRN_ROOT, path, CAIRN_NOFOLLOW, &st) != 0) {
      std::fprintf(stderr, "%s: %s\n", path, cairn_last_error());
      std::exit(1);
    }
    return st.ino;
  };
  cairn::test::Forge forge(pool);
  for (int i = 2; i + 2 < argc; i += 3) {
    const std::string command = argv[i];
    if (command == "removed") {
      forge.whiteout(ino(argv[i + 1]), argv[i + 2]);
      continue;
    }
    if (command == "device") {
      forge.device(ino(argv[i + 1]), argv[i + 2], makedev(1, 3));
      continue;
    }
    if (i + 3 >= argc) return 2;
    if (command == "name")
      forge.name(ino(argv[i + 1]), bytes_of(argv[i + 2]), bytes_of(argv[i + 3]));
    else if (command == "to")
      forge.inode(ino(argv[i + 1]), bytes_of(argv[i + 2]), ino(argv[i + 3]));
    else
      return 2;
    ++i;
  }
  cairn_pool_detach(pool);
  return 0;
}
