// PlaceLock is an advisory lock on a file beside the pools, for operations that several commands
// must not do concurrently.
//
// The file exists while a process has the lock: a process that has the lock alone when it ends
// removes the file. So a process that gets the lock checks that the name still leads to that file,
// and if not, begins again with the file that has the name. Only a process that has the lock alone,
// on the file that has the name, may remove the name; no process can have the lock through another
// file meanwhile.
#pragma once

#include <functional>
#include <string>

namespace cairn::cli {

// The file of the lock `name` (PlaceLock) in a directory.
std::string lock_path(const std::string& directory, const std::string& name);

class PlaceLock {
 public:
  enum class Mode { shared, exclusive };
  // `name` tells locks in one directory apart. Waits unless `wait` is false; then held() tells.
  PlaceLock(const std::string& directory, const std::string& name, Mode mode, bool wait = true);
  ~PlaceLock();
  PlaceLock(const PlaceLock&) = delete;
  PlaceLock& operator=(const PlaceLock&) = delete;

  [[nodiscard]] bool held() const { return held_; }
  // From shared to exclusive or back. Returns false if it may not wait and would have to, or if a
  // signal interrupted the wait (stop_signal is set then).
  bool change(Mode mode, bool wait);
  // Waits; each time that a signal interrupts it, `go_on` says whether to wait further.
  bool change(Mode mode, const std::function<bool()>& go_on);
  // Waits at most a second for the lock alone, as others may have it for a moment. Returns held().
  bool hold_soon();
  [[nodiscard]] const std::string& path() const { return path_; }
  // True for one caller of all that have had the lock since its file was made. For a line that is
  // to be printed once.
  bool is_first_to_note();
  void release();

 private:
  bool open_file();
  [[nodiscard]] bool is_named() const;
  bool take(int operation, const std::function<bool()>& go_on);

  std::string path_;
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace cairn::cli
