#include "checkpoint/restart/restart.h"

#include <algorithm>
#include <cstring>

#include "base/crc32c_bulk.h"
#include "base/long_detail.h"
#include "checkpoint/record/medium_errors.h"
#include "checkpoint/record/text.h"
#include "checkpoint/restart/copy_out.h"
#include "checkpoint/restart/cyclic.h"
#include "checkpoint/restart/needed_blocks.h"
#include "checkpoint/sources/lower_line.h"
#include "checkpoint/store/attempts.h"
#include "checkpoint/write/failure_text.h"

namespace cairn::checkpoint {
namespace {

constexpr unsigned class_shift = 48;
constexpr unsigned errno_shift = 32;

std::string shown_number(int64_t number) { return "version " + std::to_string(number); }

// Returns the box of an array with the halo elements that lie inside the global array.
Section with_halo(const Definition& definition) {
  Box box = definition.box;
  if (is_empty(box)) return section_of(box);
  for (unsigned k = 0; k < box.dimensions; ++k) {
    const uint64_t low = std::min(definition.place.view.halo_low(k), box.offset[k]);
    const uint64_t room = definition.whole.count[k] - box.offset[k] - box.count[k];
    const uint64_t high = std::min(definition.place.view.halo_high(k), room);
    box.offset[k] -= low;
    box.count[k] += low + high;
  }
  return section_of(box, definition.box.offset);
}

// A counted variable has no default: its number of elements is unknown.
bool has_default(const Definition& definition) {
  return !definition.default_value.empty() && !definition.is_counted();
}

// Calls `visit` for each stored part of what this rank wants of a variable.
Status for_each_part(const MatchedVariable& matched, const RestartRequest& request, const Run& run,
                     const Contents& contents,
                     const std::function<Status(const Section& part)>& visit) {
  const Variable variable = contents.layout().variable(matched.stored);
  const Definition& definition = *matched.definition;
  const bool reaches_out = request.fills_halo && definition.distribution().has_halo();
  return for_each_tile(
      reaches_out ? with_halo(definition) : definition.section(run.number(), run.all_ranks()),
      contents.decomposition_of(variable).whole().count, visit);
}

}  // namespace

// Returns 0 for a slot that cannot be opened: all ranks find it damaged when they read it.
uint32_t Restart::attempts_of(const KnownVersion& known) {
  // All ranks must return the same number.
  if (run_.exchange() != nullptr) return known.attempts;
  const auto slot = slot_cache_.get(known.any_slot());
  if (!slot.ok()) return 0;
  const auto word = (*slot)->word(attempts_offset);
  if (!word.ok()) return 0;
  return attempts_before((*word)->load(), name_of_run(run_.uuid()));
}

// Returns the versions in the order in which they are tried.
Result<std::vector<KnownVersion>> Restart::candidates(const RestartRequest& request,
                                                      RestartReport* report) {
  if (!catalogue_.newer().empty()) return fail(EPROTONOSUPPORT, "%s", catalogue_.newer().c_str());
  SkippedVersions& skipped = report->all_skipped;
  if (!request.is_anew()) skipped.add(request.skipped);
  std::vector<KnownVersion> wanted;
  lacks_node_ = has_versions_ = false;
  for (const KnownVersion& known : catalogue_.line()) {
    if (request.number && known.version.number != *request.number) continue;
    if (request.passes(known.version.sequence)) continue;
    has_versions_ = true;
    if (!known.missing.empty()) {
      lacks_node_ = lacks_node_ || known.lacks_node;
      report->has_damage = true;
      skipped.add(known.version.sequence,
                  shown_number(known.version.number) + ": " + known.missing);
      if (request.number) break;
      continue;
    }
    if (request.number) {
      wanted.push_back(known);
      break;
    }
    const uint32_t attempts = attempts_of(known);
    if (attempts < request.max_attempts || known.version.sequence == request.continued) {
      wanted.push_back(known);
      continue;
    }
    skipped.add(known.version.sequence,
                shown_number(known.version.number) + ": " + std::to_string(attempts) +
                    " restarts from it ended before a checkpoint; to go on with it, read it by its "
                    "number or set max_attempts to more than " +
                    std::to_string(attempts));
  }
  if (request.is_anew()) return wanted;
  report->has_damage =
      report->has_damage || !catalogue_.damaged().empty() || request.skipped.newer_than(0) != 0;
  // Incomplete versions were reported above. Damaged versions that the line has abandoned are not
  // reported.
  const KnownVersion* const head = catalogue_.head();
  for (const DamagedSlot& slot : catalogue_.damaged()) {
    const bool is_of_line = head == nullptr || slot.sequence == 0 ||
                            slot.sequence > head->version.sequence ||
                            is_in_line(head->version, slot.sequence);
    if (is_of_line && !request.passes(slot.sequence)) skipped.add(slot.sequence, slot.text);
  }
  return wanted;
}

int64_t Restart::encode(const Status& status, bool is_damage) const {
  if (status.ok()) return 0;
  const auto kind = static_cast<int64_t>(is_damage ? Finding::damaged : Finding::failed);
  // If several ranks fail, the text of the lowest one counts: many programs print only that one's.
  return kind << class_shift | int64_t{status.code()} << errno_shift | (UINT32_MAX - run_.number());
}

// Sets the text of another rank's failure.
void Restart::tell_for(uint32_t rank, int error, const std::string& shared) {
  constexpr size_t most = 240;
  if (shared.empty())
    fail(error, "rank %u: %s", rank, strerror(error)).ignore();
  else if (shared.size() <= most)
    fail(error, "rank %u: %s", rank, shared.c_str()).ignore();
  else
    fail(error, "rank %u: %.*s ... (rank %u has the whole text)", rank, int{most}, shared.c_str(),
         rank)
        .ignore();
}

// Returns the worst finding of all ranks. If no rank found anything, one rank calls `then`.
Result<int64_t> Restart::combine(const Status& status, bool is_damage, uint64_t arrived,
                                 const std::function<Status()>& then) {
  std::string own = status.ok() ? "" : last_detail();
  const int64_t said = encode(status, is_damage);
  int64_t worst = 0;
  if (run_.exchange() == nullptr) {
    CAIRN_TRY_ASSIGN(found, run_.barrier_reduce(Run::Purpose::restart, said, arrived, [&] {
      const int64_t greatest = run_.greatest();
      return greatest == 0 ? encode(then(), false) : greatest;
    }));
    worst = found;
  } else {
    CAIRN_TRY_ASSIGN(found, run_.barrier_max(Run::Purpose::restart, said, arrived));
    worst = found;
    if (worst == 0) {
      // On several nodes each leader calls it.
      const Status done = run_.is_leader() ? then() : Status();
      if (!done.ok()) own = last_detail();
      CAIRN_TRY_ASSIGN(of_all,
                       run_.barrier_max(Run::Purpose::restart, encode(done, false), arrived));
      worst = of_all;
    }
  }
  if (worst == 0) return worst;
  const int error = static_cast<int>(worst >> errno_shift & 0xffff);
  const uint32_t rank = UINT32_MAX - static_cast<uint32_t>(worst);
  const bool is_mine = rank == run_.number();
  const std::string shared = share_text(&run_, Run::Purpose::restart, is_mine, own, arrived);
  if (is_mine || shared == own || (shared.empty() && !own.empty()))
    fail_at_length(error, own).ignore();
  else
    tell_for(rank, error, shared);
  return worst;
}

Status Restart::count_attempt(Slot* slot) const {
  if (slot == nullptr) return Status();  // other nodes have the version
  CAIRN_TRY_ASSIGN(word, slot->word(attempts_offset));
  pool::Pool& pool = run_.set().fs().pool;
  checkpoint::count_attempt(pool, word, name_of_run(run_.uuid()));
  return pool.fence();
}

Status Restart::find_places(Read* read) {
  const auto place = [](const MatchedVariable& matched, std::vector<ArrayPlace>* places) {
    const auto found = matched.definition->find(ArrayUse::to_fill);
    if (!found.ok())
      return annotate(found.status(), "variable '%s'", shown_text(*matched.name).c_str());
    places->push_back(*found);
    return Status();
  };
  for (const MatchedVariable& matched : read->matches.found) {
    // The version says how many elements a counted variable has, so its place is found later.
    if (matched.definition->is_counted()) {
      read->places.emplace_back();
    } else {
      CAIRN_TRY(place(matched, &read->places));
    }
  }
  for (const MatchedVariable& matched : read->matches.missing)
    if (has_default(*matched.definition)) CAIRN_TRY(place(matched, &read->unset));
  return Status();
}

Status Restart::verify(const RestartRequest& request, Read* read) {
  NeededBlocks needed(&read->stored);
  for (const MatchedVariable& matched : read->matches.found)
    if (!matched.definition->is_counted())
      CAIRN_TRY(
          for_each_part(matched, request, run_, read->stored.contents(),
                        [&](const Section& part) { return needed.add(matched.stored, part); }));
  CAIRN_TRY(needed.verify());
  read->counted.emplace(&read->stored, definitions_, run_.number(), run_.all_ranks());
  for (const MatchedVariable& matched : read->matches.found)
    if (matched.definition->is_counted()) CAIRN_TRY(read->counted->plan(matched));
  return read->counted->verify();
}

// Verifies this rank's share of all regions and extents.
Status Restart::verify_all(StoredVersion* stored) const {
  const uint64_t block = stored->contents().layout().block_bytes();
  const auto verify_area = [&](uint32_t rank, const Area& area) {
    if (area.bytes == 0) return Status();
    CAIRN_TRY_ASSIGN(reader, stored->reader_of(rank));
    return reader->verify(area, {{0, blocks_of(area.bytes, block)}});
  };
  for (uint32_t rank = run_.number(); rank < stored->version().ranks; rank += run_.all_ranks()) {
    CAIRN_TRY_ASSIGN(region, stored->region_of(rank));
    CAIRN_TRY(verify_area(rank, region));
    if (!stored->contents().has_counted()) continue;
    CAIRN_TRY_ASSIGN(extent, stored->extent_of(rank));
    CAIRN_TRY(verify_area(rank, extent));
  }
  return Status();
}

Status Restart::find_counted_places(Read* read) {
  for (size_t i = 0; i < read->matches.found.size(); ++i) {
    const MatchedVariable& matched = read->matches.found[i];
    if (!matched.definition->is_counted()) continue;
    const uint64_t count = read->counted->count_of(matched.stored);
    const auto place = matched.definition->find(ArrayUse::to_fill, count);
    if (!place.ok())
      return annotate(place.status(), "variable '%s'", shown_text(*matched.name).c_str());
    read->places[i] = *place;
  }
  return Status();
}

Status Restart::look(const KnownVersion& known, const RestartRequest& request, bool reads,
                     Read* read) {
  CAIRN_TRY_ASSIGN(stored, StoredVersion::open(stores(), known));
  read->stored = std::move(stored);
  read->is_open = true;
  CAIRN_TRY_ASSIGN(matches, match(definitions_, read->stored.contents(), request.is_cyclic));
  read->matches = std::move(matches);
  if (!reads) return Status();
  CAIRN_TRY(find_places(read));
  read->has_places = true;
  if (request.verifies_all) CAIRN_TRY(verify_all(&read->stored));
  CAIRN_TRY(verify(request, read));
  read->has_places = false;  // a failure from here on is the program's
  CAIRN_TRY(find_counted_places(read));
  read->has_places = true;
  return Status();
}

Status Restart::copy(const RestartRequest& request, Read* read) {
  CopyOut out(&read->stored);
  for (size_t i = 0; i < read->matches.found.size(); ++i) {
    const MatchedVariable& matched = read->matches.found[i];
    if (matched.definition->is_counted()) {
      CAIRN_TRY(read->counted->copy(matched.stored, read->places[i]));
      continue;
    }
    CAIRN_TRY(for_each_part(
        matched, request, run_, read->stored.contents(),
        [&](const Section& part) { return out.copy(matched.stored, part, read->places[i]); }));
  }
  size_t next = 0;
  for (const MatchedVariable& matched : read->matches.missing)
    if (has_default(*matched.definition))
      fill_with(read->unset[next++], matched.definition->default_value);
  return read->stored.check();
}

// Opens the set in lower, if there is one.
Status Restart::open_lower(const RestartRequest& request) {
  lower_.reset();
  if (request.lower.empty()) return Status();
  auto opened = LowerSet::open(request.lower, name_in(run_.set().record()), false);
  if (opened.ok()) lower_ = std::move(*opened);
  return Status();
}

// Returns the versions of the line that lower has, newest first.
Result<std::vector<KnownVersion>> Restart::look_in_lower(const RestartRequest& request,
                                                         RestartReport* report) const {
  std::vector<KnownVersion> found;
  CAIRN_TRY_ASSIGN(line, line_in(*lower_));
  const KnownVersion* const head = catalogue_.head();
  for (const uint64_t sequence : line.sequences) {
    const bool is_of_line = head == nullptr || sequence >= head->version.sequence ||
                            is_in_line(head->version, sequence);
    if (line.is_abandoned(sequence) || !is_of_line || request.passes(sequence)) continue;
    const auto manifest = open_manifest(*lower_, sequence);
    if (!manifest.ok()) {
      report->all_skipped.add(sequence, lower_name(sequence, "") + ": " + last_detail());
      continue;
    }
    KnownVersion known;
    known.version = manifest->version();
    known.is_in_lower = true;
    if (request.number && known.version.number != *request.number) continue;
    if (uuid_in(run_.set().record()) == uuid_in(known.version)) found.push_back(known);
  }
  return found;
}

// Returns the same list on all ranks: an empty one if ranks see different versions in lower.
Result<std::vector<KnownVersion>> Restart::candidates_in_lower(const RestartRequest& request,
                                                               uint64_t arrived,
                                                               RestartReport* report) {
  std::vector<KnownVersion> found;
  if (lower_) {
    auto looked = look_in_lower(request, report);
    if (looked.ok()) found = std::move(*looked);
  }
  uint32_t crc = 0;
  for (const KnownVersion& known : found)
    crc = crc32c_bulk(crc, &known.version, sizeof known.version);
  CAIRN_TRY_ASSIGN(most, run_.barrier_max(Run::Purpose::restart, int64_t{crc}, arrived));
  CAIRN_TRY_ASSIGN(least, run_.barrier_max(Run::Purpose::restart, -int64_t{crc}, arrived));
  if (most != -least) found.clear();
  return found;
}

// Fills in the report of a version that all ranks can read.
Status Restart::finish(const Read& read, bool reads, uint64_t arrived, RestartReport* report) {
  const uint64_t sequence = report->known.version.sequence;
  report->bytes = read.stored.bytes();
  report->attributes = read.stored.attributes();
  report->missing = static_cast<uint32_t>(read.matches.missing.size());
  report->skipped = report->all_skipped.newer_than(sequence);
  report->why = report->all_skipped.why_newer_than(sequence);
  CAIRN_TRY(report_copies(read.stored, reads, arrived, report));
  const std::string why = report->all_skipped.why(sequence);
  if (report->why_copies.empty() && !why.empty()) report->why_copies = "a copy was read: " + why;
  return Status();
}

Result<RestartReport> Restart::go_through(const RestartRequest& request, uint64_t arrived,
                                          bool reads) {
  RestartReport report;
  CAIRN_TRY(open_lower(request));
  CAIRN_TRY_ASSIGN(wanted, candidates(request, &report));
  bool looks_in_lower = !request.lower.empty();
  std::optional<std::string> of_number;  // why the version that was asked for cannot be had
  for (size_t next = 0;; ++next) {
    // Versions in lower are tried before older ones in the pools.
    if (looks_in_lower && (next == wanted.size() || next != 0)) {
      looks_in_lower = false;
      CAIRN_TRY_ASSIGN(there, candidates_in_lower(request, arrived, &report));
      wanted.insert(wanted.end(), there.begin(), there.end());
      std::stable_sort(wanted.begin() + static_cast<ptrdiff_t>(next), wanted.end(),
                       [](const KnownVersion& a, const KnownVersion& b) {
                         return a.version.sequence > b.version.sequence;
                       });
    }
    if (next == wanted.size()) break;
    const KnownVersion& known = wanted[next];
    Read read;
    const Status found = look(known, request, reads, &read);
    report.known = known;
    report.attempts = attempts_of(known);
    // An error of the program's own definitions and getters is not damage of the version.
    const bool is_damage = is_of_medium(found) && (!read.is_open || read.has_places);
    CAIRN_TRY_ASSIGN(worst, combine(found, is_damage, arrived, [&] {
                       return reads ? count_attempt(read.stored.slot()) : Status();
                     }));
    if (worst == 0) {
      CAIRN_TRY(finish(read, reads, arrived, &report));
      if (!reads) return report;
      const Status status = copy(request, &read);
      CAIRN_TRY_ASSIGN(copied, combine(status, true, arrived, [] { return Status(); }));
      if (copied != 0)
        return annotate(Status(EIO), "%s", shown_number(known.version.number).c_str());
      return report;
    }
    const std::string text = shown_number(known.version.number) + ": " + last_detail();
    if (static_cast<Finding>(worst >> class_shift) == Finding::failed)
      return fail_at_length(static_cast<int>(worst >> errno_shift & 0xffff), text);
    if (request.number && !of_number) of_number = text;
    report.has_damage = true;
    report.all_skipped.add(known.version.sequence, text);
  }
  if (of_number) return fail_at_length(EIO, *of_number);
  report.skipped = report.all_skipped.newer_than(0);
  report.why = report.all_skipped.why_newer_than(0);
  return nothing(request, report);
}

// Tells all ranks that one of them has read a copy of a damaged part.
Status Restart::report_copies(const StoredVersion& stored, bool reads, uint64_t arrived,
                              RestartReport* report) {
  report->from_copies = stored.parts_from_copies();
  report->why_copies = report->known.replaced;
  if (report->why_copies.empty() && !stored.why_copies().empty())
    report->why_copies = "a copy was read: " + stored.why_copies();
  if (!reads || stored.version().parts == 1) return Status();
  const int64_t own = int64_t{report->from_copies} << errno_shift | run_.number();
  CAIRN_TRY_ASSIGN(most, run_.barrier_max(Run::Purpose::restart, own, arrived));
  report->from_copies = static_cast<uint32_t>(most >> errno_shift);
  if (report->from_copies != 0 && report->why_copies.empty())
    report->why_copies =
        "copies of damaged parts were read by rank " + std::to_string(static_cast<uint32_t>(most));
  return Status();
}

// Returns why no version was read. A set whose versions cannot be read is not reported as empty.
Status Restart::nothing(const RestartRequest& request, const RestartReport& report) const {
  if (report.skipped != 0 && lacks_node_)
    return fail(EHOSTDOWN, "no version can be read: %s", report.why.c_str());
  if (report.skipped != 0 && has_versions_ && !request.number)
    return fail_at_length(
        EEXIST, "there are versions, and none can be read: " + report.why +
                    (report.has_damage ? "; " + request.way_back : "") +
                    "; or begin anew with CAIRN_CHECKPOINT_FRESH, which drops them from the pool "
                    "and keeps copies in lower");
  if (report.skipped != 0) return fail(ENOENT, "no version can be read: %s", report.why.c_str());
  return fail(ENOENT,
              request.number ? "there is no version of this number" : "there is no version");
}

Result<RestartReport> Restart::test(const RestartRequest& request, uint64_t arrived) {
  return go_through(request, arrived, false);
}

Result<RestartReport> Restart::read(const RestartRequest& request, uint64_t arrived) {
  return go_through(request, arrived, true);
}

Result<StoredVersion> Restart::find(const RestartRequest& request) {
  RestartReport report;
  CAIRN_TRY_ASSIGN(wanted, candidates(request, &report));
  report.skipped = report.all_skipped.newer_than(0);
  report.why = report.all_skipped.why_newer_than(0);
  if (wanted.empty()) return nothing(request, report);
  return StoredVersion::open(stores(), wanted.front());
}

}  // namespace cairn::checkpoint
