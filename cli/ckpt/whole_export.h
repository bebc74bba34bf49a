// WholeExport: a version of which the pool has all parts becomes one file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ckpt/export_content.h"
#include "machine/temp_file.h"
#include "sets/ckpt_reader.h"
#include "text/progress.h"

namespace cairn::cli {

// Counts the elements of each rank, for all counted variables.
RankCounts counts_of(const CkptSet& set, int64_t number);

class WholeExport {
 public:
  WholeExport(const CkptSet& set, const ExportContent& content, int64_t number,
              const std::string& path, bool may_replace)
      : content_(content),
        reader_(set, number),
        path_(path),
        may_replace_(may_replace),
        progress_(path, 1) {}

  // False: a signal came.
  bool run();

 private:
  bool fill(TempFile& file, bool is_beside);
  bool put_all(const NetcdfPlace& place, const PutBytes& put);

  const ExportContent& content_;
  CkptReader reader_;
  std::string path_;
  bool may_replace_;
  Progress progress_;
  uint64_t done_ = 0;
  std::vector<uint8_t> converted_;
};

}  // namespace cairn::cli
