// ExportRendezvous is a directory beside a file that processes of several hosts write together,
// each its parts of one version. They need no messages and no shared locks:
//
//   counts-PART   how many elements the part's ranks have of counted variables
//   data-RANDOM   the file; .h5 behind it: of types that netCDF does not have
//   places        names the data files that count, and where each variable goes; the first process
//                 that has made one gives it this name
//   part-PART     the part is written, synced and compared
//   lock-PART     locked by a process that writes the part
//
// A process that is killed leaves no more than a part that does not count. The directory's name
// comes from those of the file, the run and the version, so that no two versions meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "machine/data_file.h"
#include "machine/own_directory.h"
#include "sets/ckpt_set.h"
#include "text/output.h"

namespace cairn::cli {

class ExportRendezvous {
 public:
  // A file that is written, the one beside first if there is one.
  struct ExportedFile {
    std::string name;    // in the directory
    std::string target;  // beside the directory
    bool is_beside = false;
    uint64_t bytes = 0;
    std::map<std::string, uint64_t> places;  // by variable; those without elements have none
    DataFile data{-1, ""};
  };

  // Makes the directory, or enters it. Throws if it is another user's.
  ExportRendezvous(const std::string& path, const CkptSet& set, const CkptVersion& version);

  [[nodiscard]] const std::string& path() const { return directory_.path(); }

  // Leaves the counts of the part's counted variables, as its host knows them.
  void leave_counts(uint32_t part, const Json& counts) const;
  [[nodiscard]] bool has_counts(uint32_t part) const;
  [[nodiscard]] Json counts_of(uint32_t part) const;

  // Opens the files that were published. False: there are none yet.
  bool open_files();
  // Creates a new file of this process. Throws.
  [[nodiscard]] ExportedFile new_file(bool is_beside) const;
  // Publishes files that are complete but for the parts, unless another process has done it.
  void offer_files(const std::vector<ExportedFile>& files) const;
  [[nodiscard]] const std::vector<ExportedFile>& files() const { return files_; }

  [[nodiscard]] bool has_part(uint32_t part) const;
  // The numbers below `parts` of which no part is there, ascending.
  [[nodiscard]] std::vector<uint32_t> missing_parts(uint32_t parts) const;
  void mark_part(uint32_t part) const;
  // Returns nothing if another process writes the part.
  [[nodiscard]] std::optional<DataFile> lock_part(uint32_t part) const;

  // Has the file no name yet, and is it still to get one?
  [[nodiscard]] bool is_open() const;
  // Has the file got its name?
  [[nodiscard]] bool is_published() const;
  // Gives the files their names and removes the directory. False: another process has done it.
  // Throws if there is such a file and it may not be replaced.
  [[nodiscard]] bool publish(bool may_replace) const;

  // Directories of this kind for the file at `path`.
  static std::vector<std::string> list(const std::string& path);

 private:
  [[nodiscard]] DataFile open_file(const std::string& name) const;
  [[nodiscard]] bool read(const std::string& name, Json* record) const;
  [[nodiscard]] std::vector<ExportedFile> read_files(const Json& record) const;
  void forget_published() const;
  [[nodiscard]] bool give_name(const ExportedFile& file, bool may_replace) const;

  std::string target_;  // the file's name
  std::string about_;   // of which version the records are
  DataFile above_;
  OwnDirectory directory_;
  std::vector<ExportedFile> files_;
};

}  // namespace cairn::cli
