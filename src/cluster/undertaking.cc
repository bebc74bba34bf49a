#include "cluster/undertaking.h"

#include "cluster/packed.h"
#include "cluster/renaming.h"

namespace cairn::cluster {

std::string packed(const Undertaking& undertaking) {
  const NameChange& change = undertaking.change;
  Packer out;
  out.put(static_cast<uint32_t>(change.op));
  out.put(change.mode);
  out.put(change.flags);
  out.append(undertaking.renaming.data(), undertaking.renaming.size());
  out.text(change.path);
  out.text(change.other);
  return {out.bytes.begin(), out.bytes.end()};
}

namespace {

Result<Undertaking> unpacked(const std::string& bytes) {
  Unpacker in(bytes.data(), bytes.size());
  Undertaking undertaking = {};
  undertaking.change.op = static_cast<NameOp>(in.get<uint32_t>());
  undertaking.change.mode = in.get<uint32_t>();
  undertaking.change.flags = in.get<uint32_t>();
  in.take(undertaking.renaming.data(), undertaking.renaming.size());
  undertaking.change.path = in.text();
  undertaking.change.other = in.text();
  if (!in.ok() || in.left() != 0) return fail(EINVAL, "an undertaking that is none");
  return undertaking;
}

}  // namespace

Status finish(Job& job, const std::string& packed_undertaking) {
  CAIRN_TRY_ASSIGN(undertaking, unpacked(packed_undertaking));
  switch (undertaking.change.op) {
    case NameOp::rename:
      return finish_renaming(job, undertaking.renaming);
    default:
      return Status();
  }
}

}  // namespace cairn::cluster
