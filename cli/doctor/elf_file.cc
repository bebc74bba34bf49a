#include "doctor/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

namespace cairn::cli {
namespace {

// A view of the file that reads nothing beyond its end, and only the bytes that are asked for: any
// user may have written the file, and it may have any size.
class Image {
 public:
  explicit Image(const std::string& path)
      : descriptor_(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    struct stat st {};
    if (descriptor_ >= 0 && fstat(descriptor_, &st) == 0 && S_ISREG(st.st_mode)) return;
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }
  ~Image() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  template <typename T>
  [[nodiscard]] bool read(uint64_t offset, T* value) const {
    return read_up_to(offset, value, sizeof *value) == sizeof *value;
  }
  // The text that begins there and ends with a NUL, or at `end`.
  [[nodiscard]] std::string text(uint64_t offset, uint64_t end) const {
    if (offset >= end) return "";
    char bytes[longest_text];
    const size_t had =
        read_up_to(offset, bytes, static_cast<size_t>(std::min(end - offset, longest_text)));
    return {bytes, strnlen(bytes, had)};
  }
  // The offset in the file of a virtual address.
  [[nodiscard]] std::optional<uint64_t> offset_of(uint64_t address) const {
    for (const Elf64_Phdr& segment : segments)
      if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
          address - segment.p_vaddr < segment.p_filesz)
        return segment.p_offset + (address - segment.p_vaddr);
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> segments;

 private:
  static constexpr uint64_t longest_text = 1024;

  size_t read_up_to(uint64_t offset, void* to, size_t size) const {
    if (descriptor_ < 0 || offset > static_cast<uint64_t>(INT64_MAX)) return 0;
    const ssize_t n = pread(descriptor_, to, size, static_cast<off_t>(offset));
    return n < 0 ? 0 : static_cast<size_t>(n);
  }

  int descriptor_;
};

// A segment that is larger has no more than this that is looked at.
constexpr uint64_t most_of_segment = uint64_t{1} << 20;

struct Dynamic {
  uint64_t symbols = 0, strings = 0, strings_size = 0, hash = 0, gnu_hash = 0;
  uint64_t runpath = 0, rpath = 0;
  std::vector<uint64_t> needed;
};

Dynamic read_dynamic(const Image& image, const Elf64_Phdr& segment) {
  constexpr std::pair<Elf64_Sxword, uint64_t Dynamic::*> numbers[] = {
      {DT_SYMTAB, &Dynamic::symbols},     {DT_STRTAB, &Dynamic::strings},
      {DT_STRSZ, &Dynamic::strings_size}, {DT_HASH, &Dynamic::hash},
      {DT_GNU_HASH, &Dynamic::gnu_hash},  {DT_RUNPATH, &Dynamic::runpath},
      {DT_RPATH, &Dynamic::rpath}};
  Dynamic dynamic;
  Elf64_Dyn entry{};
  const uint64_t end = std::min<uint64_t>(segment.p_filesz, most_of_segment);
  for (uint64_t at = 0; at + sizeof entry <= end; at += sizeof entry) {
    if (!image.read(segment.p_offset + at, &entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_NEEDED) dynamic.needed.push_back(entry.d_un.d_val);
    for (const auto& [tag, number] : numbers)
      if (entry.d_tag == tag) dynamic.*number = entry.d_un.d_val;  // d_ptr is the same bytes
  }
  return dynamic;
}

// The number of symbols to look at. The symbol table does not hold its length, but the hash tables
// do. Undefined symbols come before the first one in a GNU hash table, at `symoffset`.
uint64_t undefined_end(const Image& image, const Dynamic& dynamic) {
  if (const auto at = image.offset_of(dynamic.hash); dynamic.hash != 0 && at) {
    uint32_t chains = 0;
    if (image.read(*at + 4, &chains)) return chains;
  }
  if (const auto at = image.offset_of(dynamic.gnu_hash); dynamic.gnu_hash != 0 && at) {
    uint32_t first = 0;
    if (image.read(*at + 4, &first)) return first;
  }
  return 0;
}

bool go_note(const Image& image, const Elf64_Phdr& segment) {
  Elf64_Nhdr note{};
  const uint64_t end = std::min<uint64_t>(segment.p_filesz, most_of_segment);
  for (uint64_t at = 0; at + sizeof note <= end;) {
    if (!image.read(segment.p_offset + at, &note)) return false;
    if (note.n_namesz == 4 &&
        image.text(segment.p_offset + at + sizeof note, UINT64_MAX).starts_with("Go"))
      return true;
    at += sizeof note + (note.n_namesz + 3ULL) / 4 * 4 + (note.n_descsz + 3ULL) / 4 * 4;
  }
  return false;
}

std::vector<std::string> split_path(const std::string& text, const std::string& origin) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(':', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    for (const char* word : {"$ORIGIN", "${ORIGIN}"})
      if (const size_t at = part.find(word); at != std::string::npos)
        part.replace(at, std::strlen(word), origin);
    if (!part.empty()) parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

void read_names(const Image& image, const std::string& path, const Dynamic& dynamic, ElfFile& elf) {
  const auto strings = image.offset_of(dynamic.strings);
  if (!strings) return;
  const auto name = [&](uint64_t at) {
    return at < dynamic.strings_size ? image.text(*strings + at, *strings + dynamic.strings_size)
                                     : "";
  };
  char* real = realpath(path.c_str(), nullptr);
  const std::string origin =
      real == nullptr ? "." : std::string(real).substr(0, std::string(real).rfind('/'));
  std::free(real);
  for (uint64_t at : dynamic.needed) elf.needed.push_back(name(at));
  const uint64_t search = dynamic.runpath != 0 ? dynamic.runpath : dynamic.rpath;
  if (search != 0) elf.search = split_path(name(search), origin);

  const auto symbols = image.offset_of(dynamic.symbols);
  if (!symbols) return;
  const uint64_t end = std::min<uint64_t>(undefined_end(image, dynamic), 1 << 24);
  Elf64_Sym symbol{};
  for (uint64_t i = 1; i < end && image.read(*symbols + i * sizeof symbol, &symbol); ++i)
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0)
      elf.imports.push_back(name(symbol.st_name));
}

// Directories named in /etc/ld.so.conf.d, then those that the loader always searches.
std::vector<std::string> system_directories() {
  std::vector<std::string> directories;
  glob_t files{};
  glob("/etc/ld.so.conf", GLOB_NOSORT, nullptr, &files);
  glob("/etc/ld.so.conf.d/*.conf", GLOB_APPEND, nullptr, &files);
  for (size_t i = 0; i < files.gl_pathc; ++i) {
    std::ifstream lines(files.gl_pathv[i]);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("/")) directories.push_back(line.substr(0, line.find_first_of(" \t#")));
  }
  globfree(&files);
  for (const char* each : {"/lib64", "/usr/lib64", "/lib", "/usr/lib"})
    directories.emplace_back(each);
  return directories;
}

}  // namespace

uint16_t native_machine() {
  Elf64_Ehdr header{};
  const Image self("/proc/self/exe");
  return self.read(0, &header) ? header.e_machine : 0;
}

std::optional<ElfFile> read_elf(const std::string& path) {
  Image image(path);
  unsigned char ident[EI_NIDENT];
  if (!image.read(0, &ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  ElfFile elf;
  elf.is_64_bit = ident[EI_CLASS] == ELFCLASS64;
  Elf64_Ehdr header{};
  if (!image.read(0, &header)) return std::nullopt;
  elf.machine = header.e_machine;  // at the same place in 32-bit files
  if (!elf.is_64_bit || ident[EI_DATA] != ELFDATA2LSB) return elf;
  for (uint16_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (!image.read(header.e_phoff + i * sizeof segment, &segment)) return std::nullopt;
    image.segments.push_back(segment);
  }
  for (const Elf64_Phdr& segment : image.segments) {
    if (segment.p_type == PT_INTERP) elf.has_interpreter = true;
    if (segment.p_type == PT_NOTE && go_note(image, segment)) elf.is_go = true;
    if (segment.p_type != PT_DYNAMIC) continue;
    elf.is_dynamic = true;
    read_names(image, path, read_dynamic(image, segment), elf);
  }
  return elf;
}

std::string find_library(const std::string& name, const std::vector<std::string>& search) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), R_OK) == 0 ? name : "";
  static const std::vector<std::string> system = system_directories();
  std::vector<std::string> directories = search;
  if (const char* path = std::getenv("LD_LIBRARY_PATH"); path != nullptr)
    for (std::string& each : split_path(path, "")) directories.push_back(std::move(each));
  directories.insert(directories.end(), system.begin(), system.end());
  for (std::string& path : directories) {
    path.append("/").append(name);
    if (access(path.c_str(), R_OK) == 0) return std::move(path);
  }
  return "";
}

}  // namespace cairn::cli
