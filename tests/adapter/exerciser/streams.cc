// FILE.
#include <cstdio>

#include "adapter/exerciser/worlds.h"

namespace exerciser {

bool Exerciser::stream_step() {
  if (streams_.size() < 3 && (streams_.empty() || one_in(4))) {
    static const char* const modes[] = {"r", "r+", "w", "w+", "a", "a+", "wx", "r+e"};
    const std::string mode = modes[below(std::size(modes))];
    // Files of their own, one stream each: what is buffered, and how much, is each world's to
    // choose.
    const std::string which = "s" + std::to_string(below(5));
    for (const Stream& other : streams_)
      if (other.name == which) return true;
    Stream stream{};
    stream.name = which;
    stream.reads = mode[0] == 'r' || mode.find('+') != std::string::npos;
    stream.writes = mode[0] != 'r' || mode.find('+') != std::string::npos;
    const bool same = both("fopen " + which + " " + mode, [&](int w, std::string*) -> long {
      stream.file[w] = std::fopen(path(w, which).c_str(), mode.c_str());
      return stream.file[w] == nullptr ? -1 : 0;
    });
    if (same && last_.value == 0) streams_.push_back(stream);
    return same;
  }
  const size_t number = below(streams_.size());
  const Stream stream = streams_[number];
  // Between reading and writing the standard wants a call that moves.
  const auto settle = [&](int w) { std::fseek(stream.file[w], 0, SEEK_CUR); };
  const size_t count = size();
  switch (below(9)) {
    case 0:
    case 1:
      if (!stream.writes) return true;
      return both("fwrite", [&, text = bytes(count)](int w, std::string*) {
        settle(w);
        const size_t put = std::fwrite(text.data(), 1, text.size(), stream.file[w]);
        return static_cast<long>(put);
      });
    case 2:
      if (!stream.writes) return true;
      return both("fprintf", [&, value = below(1000000)](int w, std::string*) {
        settle(w);
        return std::fprintf(stream.file[w], "line %llu\n", static_cast<unsigned long long>(value));
      });
    case 3:
      if (!stream.reads) return true;
      return both("fread", [&](int w, std::string* data) {
        settle(w);
        data->resize(count);
        data->resize(std::fread(data->data(), 1, count, stream.file[w]));
        *data += std::feof(stream.file[w]) != 0 ? " end" : "";
        return static_cast<long>(data->size());
      });
    case 4:
      if (!stream.reads) return true;
      return both("fgets, ungetc", [&](int w, std::string* data) {
        settle(w);
        char line[200];
        if (std::fgets(line, sizeof line, stream.file[w]) != nullptr) *data = line;
        std::ungetc('u', stream.file[w]);
        *data += static_cast<char>(std::fgetc(stream.file[w]));
        std::clearerr(stream.file[w]);
        return 0L;
      });
    case 5:
      return both("fseek", [&, to = static_cast<long>(offset()), from = static_cast<int>(below(3))](
                               int w, std::string*) {
        return std::fseek(stream.file[w], from == SEEK_SET ? to : to / 10, from);
      });
    case 6:
      return both("ftell", [&](int w, std::string*) {
        settle(w);
        return std::ftell(stream.file[w]);
      });
    case 7:
      return both("fflush", [&](int w, std::string*) { return std::fflush(stream.file[w]); });
    default:
      streams_.erase(streams_.begin() + static_cast<long>(number));
      return both("fclose", [&](int w, std::string*) { return std::fclose(stream.file[w]); });
  }
}

}  // namespace exerciser
