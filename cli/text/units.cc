#include "text/units.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>

#include "text/error.h"

namespace cairn::cli {
namespace {

constexpr std::string_view letters = "KMGTPE";

// The meaning of a text, and the forms that it may have, for error messages.
struct Expected {
  const char* what;
  const char* forms;
  bool shares = true;  // it may be a percentage
};

[[noreturn]] void bad(std::string_view text, const Expected& expected) {
  usage_error("invalid {} '{}': expected {}", expected.what, text, expected.forms);
}

// The factor of a unit, or 0 if the text is not a unit.
double unit_factor(std::string_view unit) {
  std::string upper(unit);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (upper.empty() || upper == "B") return 1;
  const size_t power = letters.find(upper[0]);
  if (power == std::string_view::npos) return 0;
  const std::string rest = upper.substr(1);
  if (!rest.empty() && rest != "B" && rest != "IB") return 0;
  return std::pow(rest == "B" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
}

Size parse(std::string_view text, const Expected& expected) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) bad(text, expected);
  std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);

  Size size;
  if (unit == "%") {
    if (!expected.shares) bad(text, expected);
    if (number <= 0 || number > 100)
      usage_error("invalid size '{}': expected a share above 0%, at most 100%", text);
    size.percent = number;
    size.is_percent = true;
    return size;
  }
  const double factor = unit_factor(unit);
  if (factor == 0) bad(text, expected);
  const double bytes = number * factor;
  if (bytes >= 9.2e18) usage_error("invalid {} '{}': larger than any medium", expected.what, text);
  size.bytes = static_cast<uint64_t>(std::llround(bytes));
  return size;
}

}  // namespace

Size parse_size(std::string_view text) { return parse(text, {"size", "512M, 10GiB, 50% or auto"}); }

uint64_t parse_bytes(std::string_view text) {
  return parse(text, {"size", "512M or 10GiB, not a share", false}).bytes;
}

uint64_t parse_rate(std::string_view text) {
  if (text == "unlimited") return 0;
  const Expected expected = {"rate", "bytes a second, such as 200M, or unlimited", false};
  const Size rate = parse(text, expected);
  if (rate.bytes == 0) bad(text, expected);
  return rate.bytes;
}

uint32_t parse_mode(std::string_view text) {
  uint32_t mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (error != std::errc() || end != text.data() + text.size() || mode > 07777)
    usage_error("invalid mode '{}': expected octal permissions such as 0750", text);
  return mode;
}

int process_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0 ? number : 0;
}

std::string format_size(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  // From 1023.95 on, rounding would print 1024.0 of the smaller unit.
  for (value /= 1024; value >= 1023.95 && unit + 1 < letters.size(); ++unit) value /= 1024;
  std::string number = fmt::format("{:.1f}", value);
  if (value >= 100) number = fmt::format("{:.0f}", value);
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return fmt::format("{} {}iB", number, letters[unit]);
}

std::string format_rate(uint64_t bytes, double seconds) {
  if (seconds <= 0) return "-";
  const double rate = std::min(static_cast<double>(bytes) / seconds, 9.2e18);
  return format_size(static_cast<uint64_t>(rate)) + "/s";
}

std::string format_time(int64_t time_ns) {
  const auto seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm parts{};
  if (localtime_r(&seconds, &parts) == nullptr) return std::to_string(seconds);
  char text[64];
  const size_t length = std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts);
  return {text, length};
}

std::string format_duration(double seconds) {
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02} h", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace cairn::cli
