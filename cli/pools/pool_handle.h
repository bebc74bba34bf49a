// An attached pool and an open file of it, closed when the object goes.
#pragma once

#include <cairn/cairn.h>

#include <string>
#include <utility>
#include <vector>

#include "frame/config.h"
#include "text/output.h"

namespace cairn::cli {

class Pool {
 public:
  Pool() = default;
  // Attaches; throws if that fails. `flags` as of cairn_pool_attach.
  explicit Pool(const std::string& path, unsigned flags = 0);
  // Takes over what is attached already.
  Pool(cairn_pool* attached, const std::string& path) : pool_(attached), path_(path) {}
  ~Pool() { cairn_pool_detach(pool_); }
  Pool(Pool&& other) noexcept
      : pool_(std::exchange(other.pool_, nullptr)), path_(std::move(other.path_)) {}
  Pool& operator=(Pool&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(path_, other.path_);
    return *this;
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  [[nodiscard]] cairn_pool* get() const { return pool_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string name() const;
  [[nodiscard]] cairn_pool_info info() const;
  [[nodiscard]] std::vector<cairn_lane_info> lanes() const;

 private:
  cairn_pool* pool_ = nullptr;
  std::string path_;
};

inline constexpr unsigned look_only = CAIRN_ATTACH_READ_ONLY | CAIRN_ATTACH_NO_RECOVERY;

// Stores in the pool what becomes of its idle memory, if that is configured.
void set_release(const Config& config, const Pool& pool);

// The configured or named pool, attached, with the configured durability. Root's process works with
// the rights of the pool's owner from then on (pool_owner.h).
Pool open_pool(const Config& config, const std::string& name, unsigned flags = 0);

class File {
 public:
  File(const Pool& pool, const std::string& path, int flags, uint32_t mode = 0666);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  [[nodiscard]] cairn_file* get() const { return file_; }
  // Closes now and throws what close reports.
  void close();

 private:
  cairn_file* file_ = nullptr;
  std::string path_;
};

// One lane for people and programs: "alive", "stopped" or "dead".
std::string lane_state(const cairn_lane_info& lane);
Json lane_json(const cairn_lane_info& lane);

// "fsync" made plain: what of the data survives what, on this medium.
std::string durability_text(const cairn_pool_info& info);
std::string uuid_text(const uint8_t (&uuid)[16]);

}  // namespace cairn::cli
