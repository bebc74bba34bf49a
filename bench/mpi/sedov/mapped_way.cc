// The two ways with libpmem. They are the study's loops: an element is copied, then flushed. On
// memory that is not persistent the flushes are executed all the same.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "../kernels/common/job.h"
#include "variable_file.h"
#include "way.h"

#ifdef CAIRN_HAVE_PMEM
#include <libpmem.h>
#endif

namespace sedov {

#ifdef CAIRN_HAVE_PMEM
namespace {

enum class Drain : uint8_t { each_element, each_variable };

class MappedWay : public Way {
 public:
  MappedWay(State& state, const WayPlace& place, const char* name, Drain drain)
      : state_(state),
        directory_(place.directory + "/" + name),
        keep_(place.keep),
        whole_mapping_(place.whole_mapping),
        drain_(drain) {
    if (mkdir(directory_.c_str(), 0700) != 0 && errno != EEXIST)
      kernels::fail(directory_, std::string("mkdir failed: ") + std::strerror(errno));
    for (const Piece& piece : pieces_of(state_)) {
      const std::string path = variable_path(directory_, piece.name, state_.rank);
      size_t mapped_bytes = 0;
      void* mapped =
          pmem_map_file(path.c_str(), piece.bytes, PMEM_FILE_CREATE, 0600, &mapped_bytes, nullptr);
      if (mapped == nullptr) kernels::fail(path, std::string("map failed: ") + pmem_errormsg());
      mapped_.push_back(static_cast<char*>(mapped));
    }
  }
  ~MappedWay() override {
    size_t at = 0;
    for (const Piece& piece : pieces_of(state_)) pmem_unmap(mapped_[at++], piece.bytes);
    if (!keep_) remove_variable_files(state_, directory_);
  }
  MappedWay(const MappedWay&) = delete;
  MappedWay& operator=(const MappedWay&) = delete;

  void write() override {
    size_t variable = 0;
    for (const Piece& piece : pieces_of(state_)) {
      char* to = mapped_[variable++];
      for (size_t at = 0; at < piece.bytes; at += element_bytes) {
        std::memcpy(to + at, piece.data + at, element_bytes);
        const char* flushed = whole_mapping_ ? to : to + at;
        const size_t bytes = whole_mapping_ ? piece.bytes : element_bytes;
        if (drain_ == Drain::each_element)
          pmem_persist(flushed, bytes);
        else
          pmem_flush(flushed, bytes);
      }
      if (drain_ == Drain::each_variable) pmem_drain();
    }
  }

  void restore(State& into) override { read_variable_files(into, directory_); }

  [[nodiscard]] std::string file() const override {
    return variable_path(directory_, "x", state_.rank);
  }

 private:
  State& state_;
  std::string directory_;
  bool keep_;
  bool whole_mapping_;
  Drain drain_;
  std::vector<char*> mapped_;  // of each piece
};

}  // namespace

bool has_pmem() { return true; }

std::unique_ptr<Way> persist_way(State& state, const WayPlace& place) {
  return std::make_unique<MappedWay>(state, place, "persist", Drain::each_element);
}
std::unique_ptr<Way> drain_way(State& state, const WayPlace& place) {
  return std::make_unique<MappedWay>(state, place, "drain", Drain::each_variable);
}

#else

bool has_pmem() { return false; }
std::unique_ptr<Way> persist_way(State&, const WayPlace&) { return nullptr; }
std::unique_ptr<Way> drain_way(State&, const WayPlace&) { return nullptr; }

#endif

}  // namespace sedov
