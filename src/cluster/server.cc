// The server's side: answers requests of other nodes out of this node's parts and homes.
#include <cstring>

#include "cluster/job.h"
#include "file/io.h"

namespace cairn::cluster {

Status Job::read_part(const Request& request, const Run* runs, uint8_t* bytes, uint64_t* size) {
  uint64_t total = 0;
  for (uint64_t i = 0; i < request.runs; ++i) {
    if (runs[i].length > most_bytes || runs[i].count > most_bytes ||
        (total += runs[i].bytes()) > most_bytes)
      return fail(EINVAL, "more bytes are asked for than fit into a reply");
  }
  auto part = this->part(request.uuid, false);
  if (!part.ok()) return part.status();
  uint8_t* to = bytes;
  Status status;
  for (uint64_t i = 0; i < request.runs && status.ok(); ++i) {
    for (uint64_t k = 0; k < runs[i].count && status.ok(); ++k) {
      const uint64_t at = runs[i].offset + k * runs[i].stride;
      auto n = file::read_at(***part, to, runs[i].length, at);
      if (!n.ok())
        status = n.status();
      else if (*n != runs[i].length)
        status = fail(EIO, "the part in pool %s ends at offset %llu, before %llu",
                      own_node().path.c_str(), static_cast<unsigned long long>(at + *n),
                      static_cast<unsigned long long>(at + runs[i].length));
      to += runs[i].length;
    }
  }
  *size = total;
  return status;
}

size_t Job::serve(const void* message, size_t size, void* answer) {
  Reply reply = {};
  auto* payload = static_cast<uint8_t*>(answer) + sizeof reply;
  Request request = {};
  std::vector<Run> runs;
  Status status;
  if (size >= sizeof request) std::memcpy(&request, message, sizeof request);
  if (size < sizeof request || request.runs > most_runs ||
      size != sizeof request + request.runs * sizeof(Run)) {
    status = fail(EINVAL, "a request of %zu bytes is none", size);
  } else {
    runs.resize(request.runs);
    if (!runs.empty())
      std::memcpy(runs.data(), static_cast<const uint8_t*>(message) + sizeof request,
                  runs.size() * sizeof(Run));
    if (request.op == Op::read) {
      status = read_part(request, runs.data(), payload, &reply.size);
    } else if (request.op == Op::remove_part) {
      status = remove_part(request.uuid);
    } else {
      std::vector<Posted> posted;
      reply = homes_.answer(request, runs.data(), &posted);
      if (!posted.empty()) std::memcpy(payload, posted.data(), posted.size() * sizeof(Posted));
      if (reply.error != 0) status = fail(reply.error, "a request that its home does not know");
    }
  }
  if (!status.ok()) {
    reply.error = status.code();
    reply.size = std::strlen(last_detail());
    std::memcpy(payload, last_detail(), reply.size);
  }
  std::memcpy(answer, &reply, sizeof reply);
  return sizeof reply + reply.size;
}

}  // namespace cairn::cluster
