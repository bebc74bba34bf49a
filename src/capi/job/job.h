// What cairn_job is (include/cairn/adapter/shared.h).
#pragma once

#include "cairn/adapter/shared.h"
#include "capi/core/handles.h"
#include "cluster/rpc/job.h"

struct cairn_job {
  cairn_job(cairn::file::FileSystem& fs, cairn::cluster::Job::Place place, cairn_ask messenger,
            cairn_still_waiting when_waiting, void* its_context);
  cairn_ask ask;
  cairn_still_waiting waiting;
  void* context;
  cairn::cluster::Job job;
};
