// Sizes as people write them: 4K, 10GiB, 2M, 1.5T, 50%.
//
// K, M, G, T, P and KiB ... PiB are powers of 1024, KB ... PB powers of 1000 (as in coreutils);
// upper and lower case mean the same. A percentage is a share of what the machine and its cgroup
// allow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cairn::cli {

struct Size {
  uint64_t bytes = 0;
  double percent = 0;
  bool is_percent = false;
};

// Throws Error(exit_usage) that names the text and what was expected.
Size parse_size(std::string_view text);
// A size where a percentage makes no sense. Throws as parse_size().
uint64_t parse_bytes(std::string_view text);
// Bytes a second, or "unlimited", which is 0.
uint64_t parse_rate(std::string_view text);

// Octal permissions such as 0750.
uint32_t parse_mode(std::string_view text);

// A process number, or 0 if the text is none.
int process_number(std::string_view text);

// "0 B", "512 B", "4 KiB", "1.5 GiB": at most four significant characters and a binary unit.
std::string format_size(uint64_t bytes);
// "3.2 GiB/s"; "-" when no time has passed.
std::string format_rate(uint64_t bytes, double seconds);
// "2026-11-21 07:35:21" in local time.
std::string format_time(int64_t time_ns);
// "0.4 s", "12 s", "3:05 min", "1:02:10 h".
std::string format_duration(double seconds);

}  // namespace cairn::cli
