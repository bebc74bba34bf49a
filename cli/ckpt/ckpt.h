// The commands of `cairn ckpt`. Each returns the exit code, or throws Error.
#pragma once

#include <string>
#include <vector>

#include "frame/config.h"

namespace cairn::cli {

struct CkptArguments {
  std::string set;
  std::vector<std::string> words;  // behind SET
  std::string file, number;        // number: of a version
  std::string directory, keep;
  bool bytes = false;
  bool force = false;
  bool damaged = false;
  bool drops_copies = false;
  bool is_earlier = false;
  std::string wait;          // seconds
  bool with_copies = false;  // of other hosts' parts
};

// Lists the versions of a set or, if none is named, all sets of the pool.
int ckpt_ls(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_show(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_du(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_verify(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_export(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_import(const Config& config, bool json, const CkptArguments& arguments);
// Compares two versions. Exit code 1: they differ.
int ckpt_diff(const Config& config, bool json, const CkptArguments& arguments);
// Lists the checkpoints of a directory; needs no pool.
int ckpt_ls_lower(bool json, const CkptArguments& arguments);
int ckpt_drain(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_restore(const Config& config, bool json, const CkptArguments& arguments);
int ckpt_rm(const Config& config, bool json, const CkptArguments& arguments);

}  // namespace cairn::cli
