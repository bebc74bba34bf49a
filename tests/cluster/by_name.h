// POSIX calls by name, as the programs that test them over several hosts make them.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "mpi_parts.h"

// Each rank's 100'000 bytes, in order of rank.
inline void write_shares(const char* name, int writer) {
  MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int64_t at = int64_t{rank} * 100'000;
  write_at(file, at, patterns(at, 100'000, writer));
  OK(MPI_File_close(&file));
}

inline int64_t size_by_name(const char* name) {
  struct stat st;
  return stat(name, &st) == 0 ? st.st_size : -1;
}

inline bool is_missing(int result) { return result < 0 && errno == ENOENT; }

inline std::vector<std::string> list(const char* name) {
  std::vector<std::string> names;
  DIR* directory = opendir(name);
  CHECK(directory != nullptr);
  if (directory == nullptr) return names;
  errno = 0;
  for (const struct dirent* entry; (entry = readdir(directory)) != nullptr;)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  CHECK(errno == 0);
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

inline Bytes bytes_in(const std::string& name) {
  Bytes bytes(2'000'000);
  FILE* file = std::fopen(name.c_str(), "r");
  CHECK(file != nullptr);
  if (file == nullptr) return {};
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file));
  CHECK(std::ferror(file) == 0 && std::fclose(file) == 0);
  return bytes;
}

inline void write_bytes(const std::string& name, const char* how, const Bytes& bytes) {
  FILE* file = std::fopen(name.c_str(), how);
  CHECK(file != nullptr);
  if (file == nullptr) return;
  CHECK(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && std::fclose(file) == 0);
}
