// Replays a history into durable state and pending lines.
#include "support/simulator/crash_images.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace cairn::persist {
namespace {}  // namespace

CrashImages::CrashImages(Granularity granularity, const History& history,
                         std::vector<uint8_t*> media)
    : granularity_(granularity), history_(history), media_(std::move(media)) {}

void CrashImages::advance(uint64_t point) {
  for (; position_ < point && position_ < history_.events.size(); ++position_) {
    replay(history_.events[position_], position_);
  }
}

void CrashImages::replay(const Event& event, uint64_t number) {
  if (event.cpu >= flushed_.size()) flushed_.resize(event.cpu + size_t{1});
  switch (event.kind) {
    case EventKind::word:
      add_pieces(event, number, reinterpret_cast<const uint8_t*>(&event.value), false);
      if (granularity_ == Granularity::byte) note_flush(event, number + 1);
      break;
    case EventKind::bulk:
      add_pieces(event, number, event.bytes, true);
      note_flush(event, number + 1);
      break;
    case EventKind::flush:
      note_flush(event, number);
      break;
    case EventKind::fence:
      drain(event.cpu);
      break;
    case EventKind::drop:
      flushed_[event.cpu].clear();
      break;
  }
}

void CrashImages::add_pieces(const Event& event, uint64_t number, const uint8_t* bytes, bool bulk) {
  uint64_t at = event.offset;
  uint64_t end = event.offset + event.size;
  while (at < end) {
    uint64_t begin = at / line_size * line_size;
    uint64_t size = std::min(end, begin + line_size) - at;
    Line& line = pending_[key_of(event.region, at)];
    line.region = event.region;
    line.offset = begin;
    line.pieces.push_back({number, bytes + (at - event.offset), static_cast<uint8_t>(at - begin),
                           static_cast<uint8_t>(size), bulk});
    at += size;
  }
}

void CrashImages::note_flush(const Event& event, uint64_t number) {
  uint64_t unit = granularity_ == Granularity::page ? page_size : line_size;
  uint64_t first = event.offset / unit * unit;
  uint64_t end = (event.offset + event.size + unit - 1) / unit * unit;
  auto line = pending_.lower_bound(key_of(event.region, first));
  auto stop = pending_.lower_bound(key_of(event.region, end));
  for (; line != stop; ++line) flushed_[event.cpu].push_back({line->first, number});
}

void CrashImages::drain(uint16_t cpu) {
  for (const Flushed& flushed : flushed_[cpu]) {
    auto found = pending_.find(flushed.line);
    if (found == pending_.end()) continue;
    Line& line = found->second;
    uint8_t* target = media_[line.region] + line.offset;
    size_t durable = 0;
    while (durable < line.pieces.size() && line.pieces[durable].event < flushed.before) {
      apply(line.pieces[durable], target, 0xFF);
      ++durable;
    }
    line.pieces.erase(line.pieces.begin(), line.pieces.begin() + static_cast<ptrdiff_t>(durable));
    if (line.pieces.empty()) pending_.erase(found);
  }
  flushed_[cpu].clear();
}

// Stores the bytes of the piece that lie in the chosen 8-byte words of the line.
void CrashImages::apply(const Piece& piece, uint8_t* line, uint8_t words) const {
  if (words == 0xFF) {
    std::memcpy(line + piece.offset, piece.bytes, piece.size);
    return;
  }
  for (unsigned i = 0; i < piece.size; ++i) {
    unsigned at = piece.offset + i;
    if ((words >> (at / 8) & 1U) != 0) line[at] = piece.bytes[i];
  }
}

std::string CrashImages::describe() const {
  std::string text;
  for (size_t i = 0; i < shown_.size(); ++i) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer,
                  "region %u line 0x%llx: %zu of %zu pending stores%s, events", shown_[i]->region,
                  static_cast<unsigned long long>(shown_[i]->offset), choices_[i].pieces,
                  shown_[i]->pieces.size(), choices_[i].torn_words != 0 ? " and a torn one" : "");
    text += buffer;
    for (size_t p = 0; p < shown_[i]->pieces.size(); ++p) {
      const Piece& piece = shown_[i]->pieces[p];
      std::snprintf(buffer, sizeof buffer, "%s %llu(+%u,%u%s)", p == choices_[i].pieces ? " |" : "",
                    static_cast<unsigned long long>(piece.event), piece.offset, piece.size,
                    piece.bulk ? " bulk" : "");
      text += buffer;
    }
    text += '\n';
  }
  return text;
}

}  // namespace cairn::persist
