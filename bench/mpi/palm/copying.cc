#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#ifdef CAIRN_HAVE_ISAL
#include <isa-l/crc.h>
#else
#include "base/crc32c_bulk.h"
#endif

#include "back_end.h"

namespace palm {

uint32_t crc(uint32_t before, const char* data, int64_t bytes) {
#ifdef CAIRN_HAVE_ISAL
  // It does not store to the data, though it has no const.
  return crc32_iscsi(reinterpret_cast<unsigned char*>(const_cast<char*>(data)),
                     static_cast<int>(bytes), before);
#else
  return cairn::crc32c_bulk(before, data, static_cast<size_t>(bytes));
#endif
}

namespace {

// One mapping for all that copy: each finds it as the last one left it.
char* mapping_of(const std::string& directory, const Model& model) {
  static char* mapping = nullptr;
  if (mapping != nullptr) return mapping;
  const std::string path = directory + "/mapping-" + std::to_string(model.rank);
  const auto size = static_cast<size_t>(model.box_bytes());
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  must_posix(fd >= 0 && unlink(path.c_str()) == 0, path);
  must_posix(ftruncate(fd, static_cast<off_t>(size)) == 0, path);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
  must_posix(memory != MAP_FAILED, path);
  close(fd);
  mapping = static_cast<char*>(memory);
  return mapping;
}

constexpr int creates_by_all = 3;

class Copying : public BackEnd {
 public:
  Copying(std::string directory, int64_t piece) : directory_(std::move(directory)), piece_(piece) {}

  // Rank 0 alone writes the variables that all ranks hold. In the untimed versions all ranks do, so
  // that all can read them.
  void create(Model& model, int64_t) override {
    char* to = mapping_of(directory_, model);
    sum_ = 0;
    const bool is_first = creates_++ < creates_by_all;
    each_piece(model, [&](const Variable& variable, char* data, int64_t bytes) {
      if (variable.kind != Kind::replicated || model.rank == 0 || is_first) {
        std::memcpy(to, data, static_cast<size_t>(bytes));
        if (piece_ > 0) sum_ = crc(sum_, data, bytes);
      }
      to += bytes;
    });
  }
  // A pass of checksums, as nothing may be stored before all is known to be right, and a copy.
  void restore(Model& model) override {
    const char* const mapping = mapping_of(directory_, model);
    if (piece_ > 0) {
      const char* from = mapping;
      uint32_t sum = 0;
      each_piece(model, [&](const Variable&, const char*, int64_t bytes) {
        sum = crc(sum, from, bytes);
        from += bytes;
      });
      if (model.rank == 0 && sum != sum_) stop("copying: the checksum of the mapping differs");
    }
    const char* from = mapping;
    each_piece(model, [&](const Variable&, char* data, int64_t bytes) {
      std::memcpy(data, from, static_cast<size_t>(bytes));
      from += bytes;
    });
  }

  [[nodiscard]] std::string file(int) const override { return ""; }

 private:
  template <typename Use>
  void each_piece(Model& model, Use use) const {
    for (Variable& variable : model.variables()) {
      variable.each_run([&](char* data, int64_t bytes) {
        const int64_t step = piece_ > 0 ? piece_ : std::max<int64_t>(bytes, 1);
        for (; bytes > 0; data += step, bytes -= step) use(variable, data, std::min(bytes, step));
      });
    }
  }
  std::string directory_;
  int64_t piece_;
  uint32_t sum_ = 0;
  int creates_ = 0;
};

}  // namespace

std::unique_ptr<BackEnd> copying(const std::string& directory, int64_t piece) {
  return std::make_unique<Copying>(directory, piece);
}

}  // namespace palm
