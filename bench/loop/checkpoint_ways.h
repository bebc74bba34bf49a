// Programs replace the last checkpoint by the next one in these ways, and journals make and unlink
// small files. POSIX calls do both, on covered files if the calling program was started under
// `cairn run`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cairn::bench {

enum class Way : uint8_t {
  truncate,  // open with O_TRUNC
  recreate,  // unlink, then create
  rename,    // create a file aside, then rename it over the last one
  cut        // ftruncate(0)
};
inline constexpr Way all_ways[] = {Way::truncate, Way::recreate, Way::rename, Way::cut};

// The report shows this.
const char* name_of(Way way);
// A worker program is told this.
const char* word_of(Way way);
// Returns false if no way has this word.
bool parse_way(const std::string& word, Way& way);

// Replaces the file at `path`, which may be missing: writes `size` bytes in pieces from `source`,
// syncs and closes. Returns the nanoseconds from the first call to the end of the last one.
double write_checkpoint(Way way, const std::string& path, const uint8_t* source, size_t size,
                        size_t piece);

// Small files are created, written, closed and unlinked.
enum class Small : uint8_t {
  one_by_one,  // each is unlinked before the next one is created, as journals are
  all_at_end   // all are unlinked after the last one was closed
};
// Returns the nanoseconds that `count` of them took.
double write_small_files(Small small, const std::string& directory, const uint8_t* source,
                         size_t count);
inline constexpr size_t small_file_size = 4096;

}  // namespace cairn::bench
