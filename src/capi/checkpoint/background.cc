// C API: copies to lower behind the program's back (include/cairn/checkpoint.h).
#include "cairn/checkpoint.h"
#include "capi/context/context.h"
#include "checkpoint/redundancy/background_drain.h"
#include "checkpoint/sources/lower_copy.h"

using cairn::fail;
using cairn::Result;
using cairn::Status;
namespace ckpt = cairn::checkpoint;

namespace {

// What the leader says of a version that could not be copied: its sequence above the errno.
constexpr unsigned error_bits = 12;

}  // namespace

void cairn_checkpoint::begin_background() {
  if ((options.flags & CAIRN_CHECKPOINT_BACKGROUND) == 0 || !run->is_leader()) return;
  ckpt::BackgroundOrder order;
  order.directory = lower;
  order.retention = kept_in_lower();
  order.tell = [this](uint64_t sequence, int error) {
    set->fs().pool.store(run->words().member(0, ckpt::RunWords::uncopied),
                         sequence << error_bits | static_cast<uint64_t>(error));
  };
  background = std::make_unique<ckpt::BackgroundDrain>(*set, std::move(order));
  if (!nodes) return;
  writer->copy_in_background({[this] { return background->is_busy(); },
                              [this](const ckpt::KnownVersion& known) { copy_committed(known); }});
}

void cairn_checkpoint::copy_committed(const ckpt::KnownVersion& known) {
  if (!is_to_be_copied(known.version.number) || known.slot == 0) return;
  const auto slot = slot_cache->get(known.slot);
  if (!slot.ok()) return;
  background->copy({known.version.sequence, (*slot)->ids(), catalogue, used_sequences(), nullptr});
}

void cairn_checkpoint::copy_when_committed(int64_t number) {
  if (!background || nodes || !is_to_be_copied(number) || !writer->status().ok()) return;
  const auto slot = writer->opened();
  if (!slot.ok()) return;
  const uint64_t sequence = writer->sequence();
  background->copy({sequence, *slot, catalogue, used_sequences(),
                    [this, sequence] { return writer->is_over(sequence); }});
}

bool cairn_checkpoint::is_to_be_copied(int64_t number) const {
  return options.lower_multiple == 0 || number % static_cast<int64_t>(options.lower_multiple) == 0;
}

int cairn_checkpoint::error_of_copy(uint64_t sequence) const {
  if ((options.flags & CAIRN_CHECKPOINT_BACKGROUND) == 0) return 0;
  const uint64_t word = run->words().member(0, ckpt::RunWords::uncopied).load();
  return word >> error_bits == sequence ? static_cast<int>(word & ((1U << error_bits) - 1)) : 0;
}

Status cairn_checkpoint::told_of_copy(uint64_t sequence) const {
  const int error = error_of_copy(sequence);
  if (error == 0) return Status();
  const std::string why = background ? background->why(sequence) : std::string();
  return fail(error, "level GLOBAL: the version is not in lower yet: %s; wait tries again",
              why.empty() ? strerror(error) : why.c_str());
}

// Has the thread of this node, or have those of all nodes, copied the version, and lower lists it?
Result<bool> cairn_checkpoint::was_copied(uint64_t sequence) {
  const ckpt::KnownVersion* const known = catalogue.find(sequence);
  if (known == nullptr) return fail(ENOENT, "the version is gone");
  const auto all_say = [this](bool own) -> Result<bool> {
    if (!nodes) return own;
    const uint8_t says = own ? 1 : 0;
    std::vector<uint8_t> all(nodes->nodes());
    CAIRN_TRY(
        ckpt::gather(nodes.get(), ckpt::Exchange::Channel::commit, &says, sizeof says, all.data()));
    return std::all_of(all.begin(), all.end(), [](uint8_t one) { return one == 1; });
  };
  // Once all have named their parts, the last one has completed the copy.
  CAIRN_TRY_ASSIGN(are_there, all_say(background && background->has_copied(sequence)));
  if (!are_there) return false;
  const auto there = open_lower();
  CAIRN_TRY_ASSIGN(is_complete, all_say(there.ok() && ckpt::is_listed(*there, known->version)));
  if (!is_complete) return false;
  const auto slot = slot_cache->get(known->any_slot());
  if (slot.ok()) ckpt::note_global(*set, *slot).ignore();  // a report
  return true;
}
