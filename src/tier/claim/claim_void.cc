// Decides when a claim with this host's name is void.
#include "file/recovery/attach.h"
#include "pool/lanes/attach_lock.h"
#include "tier/claim/claim.h"
#include "tier/claim/membership.h"
#include "tier/record/record.h"

namespace cairn::tier {
namespace {

// The pool that the claim names is not at its path here. Is it lost? It is if the claim means this
// place, or memory of an earlier boot of this machine. If not, another container, or another
// machine of the same name, may still have the pool.
bool is_lost(const Claim& claim, const Claim& own) {
  if (claim.boot == own.boot) return !claim.place.empty() && claim.place == place_of(claim.pool);
  return !claim.machine.empty() && claim.machine == own.machine;
}

// A claim of Cairn names its pool by an absolute path.
bool names_pool(const Claim& claim) { return claim.pool.rfind('/', 0) == 0; }

bool is_used(file::FileSystem& fs, const std::string& name) {
  auto attached = pool::anybody_attached(fs.pool.lock_path);
  if (!attached.ok() || *attached) return true;
  auto run = is_run_under_way(fs, name);
  return !run.ok() || *run;
}

}  // namespace

bool is_void(const Claim& claim, const Claim& own, const std::string& directory,
             HoldsData holds_data) {
  if (!names_pool(claim)) return false;
  file::AttachOptions options;
  options.read_only = true;
  options.no_recovery = true;
  auto fs = file::attach(claim.pool, options);
  // A pool that is there and cannot be read may hold data, so its claim counts.
  if (!fs.ok()) return (fs.code() == ENOENT || fs.code() == ENOTDIR) && is_lost(claim, own);
  if (own_claim(**fs, "").uuid != claim.uuid) return is_lost(claim, own);
  bool needed = false;
  const Status status =
      for_each_record(**fs, [&](const std::string& name, const CoverRecord& record) {
        if (record.path == directory)
          needed = record.keep || is_used(**fs, name) || holds_data(**fs, name);
        return Status();
      });
  return status.ok() && !needed;
}

bool pool_is_here(const Claim& claim, const Claim& own) {
  if (claim.host != own.host || !names_pool(claim)) return false;
  file::AttachOptions options;
  options.read_only = true;
  options.no_recovery = true;
  auto fs = file::attach(claim.pool, options);
  if (!fs.ok()) return fs.code() != ENOENT && fs.code() != ENOTDIR;
  return own_claim(**fs, "").uuid == claim.uuid;
}

}  // namespace cairn::tier
