// Ordinary files of this node's pool, as other nodes' processes meet them by name: the server's
// side of remote_files.h.
//
// A file that lies in the covered directory as it is in the pool is none: all nodes see it there.
#pragma once

#include <string>
#include <vector>

#include "cluster/rpc/job.h"

namespace cairn::cluster {

// ENOENT: there is no such file here, nor was one removed. Whether it could be taken is told if it
// is asked for.
Result<FileState> look_own(Job& job, const std::string& path, bool asks_busy);
// As look_own(), and holds the file open (HeldFiles). EAGAIN: the file is moving, and the caller
// does not say that it has been for too long. The server cannot wait for an answer that it may have
// to give itself.
Result<FileState> hold_own(Job& job, const std::string& path, bool writing, bool for_too_long);
// The runs' bytes, one behind the other. EIO: it is gone, or shorter.
Status read_own(Job& job, const Request& request, const ByteRun* runs, uint8_t* bytes,
                uint64_t* size);
Status change_own(Job& job, const std::string& path, const FileChange& change);
// Removes what had the new name, unless file::rename_no_replace is in `flags`.
Status rename_own(Job& job, const std::string& from, const std::string& to, unsigned flags);
Status remove_own(Job& job, const std::string& path);
// Its bytes are about to have another place: it is neither opened nor written until it is taken or
// released. EBUSY: a process has it open, or it is more than bytes under one name; EAGAIN: it is
// moving, as for hold_own(); ESTALE: it is another file, or has changed since it was looked at.
Status reserve_own(Job& job, const std::string& path, const FileState& seen, bool for_too_long);
// Whatever has become of its name.
void release_own(Job& job, const FileState& seen);
// ENOENT, ESTALE: it was removed, replaced or changed by its name meanwhile.
Status take_own(Job& job, const std::string& path, const FileState& seen);
// Names from `position` on (0: the first), as ListedFile says, until `names` has most_listed bytes.
// Where to go on; 0: that was all.
Result<int64_t> list_own(Job& job, const std::string& directory, uint64_t position,
                         std::vector<uint8_t>* names);

// The bytes of these runs of an open file; `whose` names it in messages.
Status read_runs(file::File& file, const ByteRun* runs, uint64_t count, const std::string& whose,
                 uint8_t* bytes, uint64_t* size);

}  // namespace cairn::cluster
