// RemoteContents: what other nodes hold, as the contents of an ordinary open file of this process
// (tier/system/source.h), for as long as there is a job.
#pragma once

#include "tier/system/source.h"

namespace cairn::cluster {

class RemoteContents : public tier::ContentSource {
 public:
  // The job has ended: nothing can be read or written from here on.
  virtual void end() = 0;
};

}  // namespace cairn::cluster
