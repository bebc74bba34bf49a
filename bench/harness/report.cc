#include "harness/report.h"

#include <cstdint>

namespace cairn::bench {
namespace {

const char* verdict(const Row& row) {
  if (row.bar.kind == Bar::Kind::none) return "";
  return row.bar.holds(row.measured) ? "holds" : "short";
}

const char* unit_name(Unit unit) {
  switch (unit) {
    case Unit::percent:
      return "%";
    case Unit::times:
      return "x";
    case Unit::nanoseconds:
      return "ns";
    case Unit::microseconds:
      return "us";
    case Unit::milliseconds:
      return "ms";
    case Unit::seconds:
      return "s";
  }
  return "";
}

std::string shown(double value, Unit unit) {
  char text[48];
  if (unit == Unit::percent) value *= 100;
  const int digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  std::snprintf(text, sizeof text, "%.*f", unit == Unit::percent ? 1 : digits, value);
  return text;
}

std::string nanoseconds(double value) {
  if (value == 0) return "";
  char text[48];
  std::snprintf(text, sizeof text, value < 100 ? "%.1f" : "%.0f", value);
  return text;
}

std::string escaped(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= ' ') out += c;
  }
  return out + '"';
}

std::string bar_text(const Row& row) {
  if (row.bar.kind == Bar::Kind::none) return "";
  const char* sign = row.bar.kind == Bar::Kind::at_least ? ">= " : "<= ";
  std::string value = shown(row.bar.value, row.unit);
  if (value.find('.') != std::string::npos) {
    while (value.back() == '0') value.pop_back();
    if (value.back() == '.') value.pop_back();
  }
  return sign + value;
}

void print_row(const Row& row) {
  const std::string interval =
      shown(row.measured.low, row.unit) + " .. " + shown(row.measured.high, row.unit);
  std::printf("  %-22s %-34s %9s %9s %8s %-2s %18s %9s  %-5s %s\n", row.what.c_str(),
              row.against.c_str(), nanoseconds(row.ours_ns).c_str(),
              nanoseconds(row.limit_ns).c_str(), shown(row.measured.median, row.unit).c_str(),
              unit_name(row.unit), interval.c_str(), bar_text(row).c_str(), verdict(row),
              row.note.c_str());
  std::fflush(stdout);
}

}  // namespace

bool Bar::holds(const Interval& measured) const {
  if (kind == Kind::at_least) return measured.low >= value;
  if (kind == Kind::at_most) return measured.high <= value;
  return true;
}

void Report::fact(const std::string& key, const std::string& value) {
  std::printf("%s: %s\n", key.c_str(), value.c_str());
  std::fflush(stdout);
  facts_.emplace_back(key, value);
}

void Report::add(Row row) {
  if (row.group != group_) {
    group_ = row.group;
    std::printf("\n%s\n  %-22s %-34s %9s %9s %11s %18s %9s\n", group_.c_str(), "", "against",
                "ns/call", "limit ns", "measured", "95 % interval", "bar");
  }
  print_row(row);
  rows_.push_back(std::move(row));
}

void Report::skip(const std::string& group, const std::string& what, const std::string& why) {
  std::printf("\n%s, %s: not measured: %s\n", group.c_str(), what.c_str(), why.c_str());
  std::fflush(stdout);
  Row row;
  row.group = group;
  row.what = what;
  row.note = why;
  skipped_.push_back(std::move(row));
}

bool Report::write_json(const std::string& path) const {
  FILE* out = std::fopen(path.c_str(), "we");
  if (out == nullptr) return false;
  std::fputs("{\n  \"facts\": {", out);
  for (size_t i = 0; i < facts_.size(); ++i) {
    std::fprintf(out, "%s\n    %s: %s", i == 0 ? "" : ",", escaped(facts_[i].first).c_str(),
                 escaped(facts_[i].second).c_str());
  }
  std::fputs("\n  },\n  \"rows\": [", out);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const Row& row = rows_[i];
    std::fprintf(out,
                 "%s\n    {\"group\": %s, \"what\": %s, \"against\": %s, \"unit\": %s, "
                 "\"median\": %.6g, \"low\": %.6g, \"high\": %.6g, \"pairs\": %zu",
                 i == 0 ? "" : ",", escaped(row.group).c_str(), escaped(row.what).c_str(),
                 escaped(row.against).c_str(),
                 escaped(row.unit == Unit::percent ? "ratio" : unit_name(row.unit)).c_str(),
                 row.measured.median, row.measured.low, row.measured.high, row.pairs);
    if (row.ours_ns != 0) std::fprintf(out, ", \"ours_ns\": %.6g", row.ours_ns);
    if (row.limit_ns != 0) std::fprintf(out, ", \"limit_ns\": %.6g", row.limit_ns);
    if (row.bar.kind != Bar::Kind::none) {
      std::fprintf(out, ", \"%s\": %.6g, \"verdict\": \"%s\"",
                   row.bar.kind == Bar::Kind::at_least ? "at_least" : "at_most", row.bar.value,
                   verdict(row));
    }
    if (!row.note.empty()) std::fprintf(out, ", \"note\": %s", escaped(row.note).c_str());
    std::fputs("}", out);
  }
  std::fputs("\n  ],\n  \"not_measured\": [", out);
  for (size_t i = 0; i < skipped_.size(); ++i) {
    std::fprintf(out, "%s\n    {\"group\": %s, \"what\": %s, \"why\": %s}", i == 0 ? "" : ",",
                 escaped(skipped_[i].group).c_str(), escaped(skipped_[i].what).c_str(),
                 escaped(skipped_[i].note).c_str());
  }
  std::fputs("\n  ]\n}\n", out);
  return std::fclose(out) == 0;
}

size_t Report::summary() const {
  size_t bars = 0;
  size_t missed = 0;
  for (const Row& row : rows_) {
    if (row.bar.kind == Bar::Kind::none) continue;
    ++bars;
    if (row.bar.holds(row.measured)) continue;
    if (missed++ == 0) std::printf("\nshort:\n");
    std::printf("  %s, %s: %s %s against %s, bar %s\n", row.group.c_str(), row.what.c_str(),
                shown(row.measured.median, row.unit).c_str(), unit_name(row.unit),
                row.against.c_str(), bar_text(row).c_str());
  }
  std::printf("\n%zu of %zu bars hold", bars - missed, bars);
  if (!skipped_.empty()) std::printf("; %zu rows not measured", skipped_.size());
  std::printf("\n");
  return missed;
}

int Report::conclude(const std::string& json_path) const {
  const size_t missed = summary();
  if (!json_path.empty() && !write_json(json_path)) {
    std::perror(json_path.c_str());
    return 2;
  }
  return missed == 0 ? 0 : 1;
}

std::string size_name(size_t bytes) {
  if (bytes >= size_t{1} << 30 && bytes % (size_t{1} << 30) == 0)
    return std::to_string(bytes >> 30) + " GiB";
  if (bytes >= size_t{1} << 20 && bytes % (size_t{1} << 20) == 0)
    return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= 1024 && bytes % 1024 == 0) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

}  // namespace cairn::bench
