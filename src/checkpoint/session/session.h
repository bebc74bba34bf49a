// CheckpointSession: a program's use of one set, from init to finalize. It is a run, or it only
// looks at the set, as tools do.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "checkpoint/session/session_run.h"
#include "checkpoint/versions/verify_version.h"

namespace cairn::checkpoint {

class CheckpointSession {
 public:
  explicit CheckpointSession(SessionOptions options);

  // Begins a run that uses the set `name`; see SessionRun::open(). Collective.
  Status open(file::FileSystem* fs, const std::string& name,
              std::unique_ptr<RunTransport> transport, Status own);
  // Looks at a set, which a run may use meanwhile. ENOENT.
  Status open_to_look(file::FileSystem& fs, const std::string& name);
  // Ends the run. Collective; without a run it does nothing.
  Status close();

  // Returns null if the session only looks.
  [[nodiscard]] SessionRun* run() const { return run_.get(); }
  [[nodiscard]] SetView& view() { return view_; }
  [[nodiscard]] VersionLevels& levels() { return levels_; }

  // Defines a variable; see SessionRun::define(). A session that looks only keeps the definition.
  Status define(const std::string& name, Definition definition);
  Status undefine(const std::string& name) { return contents_.definitions().remove(name); }

  // Calls `work`, which reads a version, and returns its status. In a run on several nodes
  // collective: a node's leader answers in its own call.
  Status read(const std::function<Status(VersionReader* reader)>& work);
  // Adds the command that gets data back, if the status says that a version is damaged.
  [[nodiscard]] Status with_way_back(const Status& status) const;

  // Compares all bytes that this pool has of a version with their checksums. ENOENT.
  Result<Verified> verify(const VersionNumber& number);
  // Copies what this pool has of a version to a directory. Returns the number of parts that other
  // hosts have not copied yet. `keep`: whole versions of the line that stay there; 0: all. ENOENT,
  // and as drain_here().
  Result<uint32_t> drain(const VersionNumber& number, const std::string& directory, uint32_t keep);

  // These drop versions in a session that looks; see drop.h.
  Status drop(const VersionNumber& number, bool may_be_last);
  Status drop_damaged();
  Status drop_set(bool with_versions);

 private:
  // Reads what it knows of the set again.
  Status look_again();

  const SessionOptions options_;
  const ExitWatch exit_watch_;
  SetView view_;
  VersionLevels levels_;
  VersionReader reader_;
  SharedContents contents_;
  std::unique_ptr<SessionRun> run_;
};

}  // namespace cairn::checkpoint
