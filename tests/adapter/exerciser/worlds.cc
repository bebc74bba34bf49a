#include "adapter/exerciser/worlds.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace exerciser {

// ---- chance

std::string Exerciser::name() {
  // No absolute ones: as links they would lead both worlds to one place.
  static const char* const odd[] = {"",       ".",       "..",     "d1/",  "d1/.",
                                    "f1/",    "f1/x",    "none/x", "./f2", "d1/../f3",
                                    "d1//f2", "link/f1", "link/"};
  if (one_in(20)) return odd[below(std::size(odd))];
  if (one_in(100)) return std::string(255 + below(2), 'n');
  const std::string file = "f" + std::to_string(below(6));
  switch (below(5)) {
    case 0:
      return "d1/" + file;
    case 1:
      return "d2/" + file;
    case 2:
      return one_in(3) ? "d" + std::to_string(1 + below(3)) : "d1/d" + std::to_string(below(3));
    case 3:
      return one_in(4) ? "link" : file;
    default:
      return file;
  }
}

uint64_t Exerciser::offset() {
  switch (below(8)) {
    case 0:
      return 0;
    case 1:
      return below(100);
    case 2:
      return 4096 * below(20);
    case 3:
      return (2 << 20) - 5000 + below(10000);
    default:
      return below(60000);
  }
}

size_t Exerciser::size() {
  switch (below(6)) {
    case 0:
      return below(8);
    case 1:
      return 4096 * (1 + below(3));
    case 2:
      return below(40000);
    default:
      return below(6000);
  }
}

std::string Exerciser::bytes(size_t size) {
  std::string made(size, '\0');
  const auto start = static_cast<unsigned>(below(256));
  for (size_t i = 0; i < size; ++i) made[i] = static_cast<char>(start + i * 7 + (i >> 8));
  return made;
}

// ---- comparing

bool Exerciser::note(const std::string& what, const Outcome (&outcome)[worlds]) {
  const auto shown = [](const Outcome& o) {
    std::string text = std::to_string(o.value);
    if (o.error != 0) text += std::string(" ") + strerrorname_np(o.error);
    return text;
  };
  history_.push_back(what + " = " + shown(outcome[0]));
  if (history_.size() > 200) history_.pop_front();
  if (outcome[0] == outcome[1]) return true;
  size_t at = 0;
  while (at < outcome[0].data.size() && at < outcome[1].data.size() &&
         outcome[0].data[at] == outcome[1].data[at])
    ++at;
  std::string why = what + ": covered " + shown(outcome[0]) + ", plain " + shown(outcome[1]);
  if (outcome[0].data != outcome[1].data) {
    why += "; what they read differs from byte " + std::to_string(at) + " of " +
           std::to_string(outcome[0].data.size()) + "/" + std::to_string(outcome[1].data.size());
    if (outcome[0].data.size() < 1000)
      why += "\n  covered: " + outcome[0].data + "\n  plain:   " + outcome[1].data;
  }
  return fail(why);
}

bool Exerciser::fail(const std::string& why) {
  std::string text = "seed " + std::to_string(seed_) + ", step " + std::to_string(steps_) + "\n";
  for (const std::string& line : history_) text += "  " + line + "\n";
  text += why + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return false;
}

bool Exerciser::step() {
  ++steps_;
  if (steps_ % 200 == 0 && !compare_trees()) return false;
  const uint64_t kind = below(100);
  if (kind < 50 && !pairs_.empty()) {
    Pair& pair = pairs_[below(pairs_.size())];
    return descriptor_step(pair);
  }
  if (kind < 62) return open_step();
  if (kind < 76) return name_step();
  if (kind < 84) return attribute_step();
  if (kind < 88) return one_in(6) ? tree_step() : directory_step();
  if (kind < 94) return stream_step();
  if (kind < 99) return mapping_step();
  return one_in(5) ? fork_step() : true;
}

// The child goes on with the same open files and ends; what it did to offsets stays.
bool Exerciser::fork_step() {
  for (Stream& stream : streams_)
    for (FILE* file : stream.file) std::fflush(file);
  const uint64_t with = below(1 << 30);
  const pid_t child = fork();
  if (child < 0) return fail("fork");
  if (child == 0) {
    reseed(with);
    streams_.clear();
    bool same = true;
    for (int i = 0; same && i < 20; ++i) {
      ++steps_;
      same =
          pairs_.empty() || one_in(3) ? name_step() : descriptor_step(pairs_[below(pairs_.size())]);
    }
    _exit(same ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  history_.push_back("fork with " + std::to_string(with));
  return status == 0 || fail("the child: status " + std::to_string(status));
}

void Exerciser::close_all() {
  for (const Pair& pair : pairs_)
    for (int fd : pair.fd) close(fd);
  for (const Stream& stream : streams_)
    for (FILE* file : stream.file) std::fclose(file);
  for (const Mapping& mapping : mappings_)
    for (char* memory : mapping.memory) munmap(memory, mapping.size);
  pairs_.clear(), streams_.clear(), mappings_.clear();
}

namespace {

// Every name below `top` with what can be compared of it.
void list(const std::string& top, const std::string& below,
          std::map<std::string, std::string>* all) {
  DIR* stream = opendir((top + "/" + below).c_str());
  if (stream == nullptr) return;
  while (const dirent* entry = readdir(stream)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    const std::string inside = below.empty() ? name : below + "/" + name;
    const std::string path = top + "/" + inside;
    struct stat st {};
    if (lstat(path.c_str(), &st) != 0) {
      (*all)[inside] = strerror(errno);
      continue;
    }
    std::string is = std::to_string(st.st_mode) + " links " + std::to_string(st.st_nlink);
    if (entry->d_type != DT_UNKNOWN && entry->d_type != IFTODT(st.st_mode)) is += " d_type lies";
    if (!S_ISDIR(st.st_mode)) is += " size " + std::to_string(st.st_size);
    if (S_ISLNK(st.st_mode)) {
      char text[256] = "";
      is += " to " + std::string(text, static_cast<size_t>(std::max<ssize_t>(
                                           0, readlink(path.c_str(), text, sizeof text))));
    }
    if (S_ISREG(st.st_mode)) {
      std::string bytes(static_cast<size_t>(st.st_size), '\0');
      const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
      const ssize_t got = pread(fd, bytes.data(), bytes.size(), 0);
      close(fd);
      is += " bytes " + std::to_string(got) + "/" + std::to_string(std::hash<std::string>()(bytes));
    }
    (*all)[inside] = is;
    if (S_ISDIR(st.st_mode)) list(top, inside, all);
  }
  closedir(stream);
}

}  // namespace

bool Exerciser::compare_trees() {
  for (const Stream& stream : streams_)
    for (FILE* file : stream.file) std::fflush(file);
  std::map<std::string, std::string> found[worlds];
  for (int w = 0; w < worlds; ++w) list(root_[w], "", &found[w]);
  if (found[0] == found[1]) return true;
  for (int w = 0; w < worlds; ++w)
    for (const auto& [name, is] : found[w]) {
      const auto other = found[1 - w].find(name);
      if (other == found[1 - w].end() || other->second != is)
        std::fprintf(stderr, "%s %s: %s\n", w == 0 ? "covered" : "plain  ", name.c_str(),
                     is.c_str());
    }
  return fail("the trees differ");
}

}  // namespace exerciser
