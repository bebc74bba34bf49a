// PartsExport: each of several hosts writes its part of a version to one file; the process that
// finds all parts there gives the file its name.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ckpt/export_content.h"
#include "ckpt/export_rendezvous.h"
#include "ckpt/list_rows.h"
#include "sets/ckpt_reader.h"
#include "text/progress.h"

namespace cairn::cli {

class PartsExport {
 public:
  // `with_copies`: also writes parts of other hosts of which the pool has copies. A pool without a
  // part of its own writes its copies anyway.
  PartsExport(const CkptSet& set, const CkptVersion& version, std::vector<CkptPart> parts,
              const std::string& path, bool may_replace, bool with_copies);

  enum class State {
    interrupted,  // a signal came
    waits_for_counts,
    waits_for_parts,
    completed,  // by this process
    completed_by_another
  };
  // Goes as far as it can. Call it again when other processes have done their steps.
  State step();

  // Hosts that the state waits for, one for each part.
  [[nodiscard]] const std::vector<std::string>& missing() const { return missing_; }
  // Are copies of some of these parts in the pool, and not asked for?
  [[nodiscard]] bool has_copies_of_missing() const { return has_copies_of_missing_; }
  // Valid once the state is not waits_for_counts any more.
  [[nodiscard]] const ExportContent& content() const { return *content_; }

 private:
  bool gather_counts();
  [[nodiscard]] Json own_counts(const CkptPart& part);
  void take_counts(const Json& counts);
  void find_places();
  void meet();
  void make_files();
  bool write_part(const CkptPart& part);
  void check_place(const ExportRendezvous::ExportedFile& file, size_t variable,
                   uint64_t offset) const;
  bool write_share();
  bool put_variable(const CkptPart& part, size_t variable, uint64_t offset, const PutBytes& put);
  void put_box(const CkptPiece& piece, size_t variable, uint64_t offset, const PutBytes& put);
  void put_of_rank(const CkptPiece& piece, size_t variable, uint64_t offset, const PutBytes& put);
  bool put_lists(const CkptPart& part, size_t variable, uint64_t offset, const PutBytes& put);
  bool note(size_t variable, uint64_t elements);
  bool find_missing();
  [[nodiscard]] bool is_of_share(const CkptPart& part) const;

  const CkptSet& set_;
  const CkptVersion& version_;
  std::vector<CkptPart> parts_;
  std::string path_;
  bool may_replace_;
  bool with_copies_;
  std::vector<CkptVariable> variables_;  // of the version
  ExportRendezvous rendezvous_;
  CkptReader reader_;
  RankCounts counts_;
  RankCounts firsts_;  // of each rank, the place of its first element among those of all
  std::map<std::string, ListRows> rows_;  // of ragged arrays
  std::optional<ExportContent> content_;
  std::set<uint32_t> damaged_;  // parts of which the pool's copy is
  std::vector<std::string> missing_;
  bool has_copies_of_missing_ = false;
  Progress progress_;
  uint64_t done_ = 0;
  uint64_t share_bytes_ = 0;
  std::vector<uint8_t> converted_;
};

}  // namespace cairn::cli
