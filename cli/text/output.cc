#include "text/output.h"

#include <cairn/adapter/printable.h>
#include <signal.h>  // NOLINT: sigtimedwait
#include <time.h>    // NOLINT: its timespec

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "text/error.h"

namespace cairn::cli {
namespace {

int log_level = 1;  // 0 error, 1 warning, 2 info

// Columns of a terminal that `text` takes; continuation bytes of UTF-8 take none.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

constexpr const char* to_end_of_line = "\x1b[K";  // a terminal clears what stands there

std::string without_hidden(std::string_view text, bool keeps_lines) {
  std::string visible;
  while (!text.empty()) {
    int hidden = 0;
    const size_t bytes = cairn_first_character(text.data(), text.size(), &hidden);
    const bool stays = hidden == 0 || (keeps_lines && text[0] == '\n');
    for (const char c : text.substr(0, bytes)) {
      if (stays)
        visible += c;
      else
        visible += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(bytes);
  }
  return visible;
}

void write_to_stderr(const std::string& text) {
  sigset_t pipe;
  sigset_t before;
  sigset_t waiting;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&waiting);
  pthread_sigmask(SIG_BLOCK, &pipe, &before);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
  constexpr timespec now{};
  if (sigismember(&waiting, SIGPIPE) == 0) sigtimedwait(&pipe, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

Table::Table(std::vector<std::string> headings, std::vector<size_t> right)
    : headings_(std::move(headings)), right_(std::move(right)) {}

void Table::row(std::vector<std::string> cells) {
  cells.resize(headings_.size());
  for (std::string& cell : cells) cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < headings_.size(); ++i) {
    widths.push_back(width(headings_[i]));
    for (const auto& row : rows_) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  const auto add = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string blanks(widths[i] - width(cells[i]), ' ');
      const bool right = std::find(right_.begin(), right_.end(), i) != right_.end();
      line += (i == 0 ? "" : "  ") + (right ? blanks + cells[i] : cells[i] + blanks);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add(headings_);
  for (const auto& row : rows_) add(row);
  return text;
}

std::string printable(std::string_view text) { return without_hidden(text, false); }

void print_lines(std::string_view lines) {
  const std::string text = without_hidden(lines, true);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw Error(exit_failed, system_error("standard output", errno));
}

void print_json(const Json& json) {
  print_lines(json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n");
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

void flush_output() {
  if (std::fflush(stdout) != 0) throw Error(exit_failed, system_error("standard output", errno));
}

void tell_lines(std::string_view lines) { write_to_stderr(without_hidden(lines, true)); }

void show_over(std::string_view line) { write_to_stderr("\r" + printable(line) + to_end_of_line); }

void clear_line() { write_to_stderr(std::string("\r") + to_end_of_line); }

std::string json_text(const std::string& bytes) {
  return Json::parse(json_line(Json(bytes))).get<std::string>();
}

void set_log_level(const std::string& level) {
  log_level = level == "error" ? 0 : level == "info" ? 2 : 1;
}

void warn(const std::string& text) {
  if (log_level >= 1) tell("cairn: warning: {}\n", text);
}

void note(const std::string& text) {
  if (log_level >= 1) tell("{}\n", text);
}

void inform(const std::string& text) {
  if (log_level >= 2) tell("cairn: {}\n", text);
}

}  // namespace cairn::cli
