// Writing, and the commit that makes it known.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/saved_failure.h"
#include "cluster/shared/held_record.h"
#include "cluster/shared/moved_records.h"
#include "cluster/shared/shared_file.h"
#include "file/data/io.h"
#include "file/data/sync.h"
#include "file/data/truncate.h"

namespace cairn::cluster {
namespace {

// What a rank says at a commit; its runs follow, and the text of its error.
struct Said {
  int32_t error = 0;
  uint32_t node = 0;
  uint64_t end = 0;
  uint64_t runs = 0;
};

// What rank 0 says then; the record follows.
struct Decided {
  int32_t error = 0;
  uint32_t done = 0;  // the record holds what was written
  int64_t news = 0;
  char text[detail_capacity] = {};
};

void set_error(Decided* decided, Status status) {
  if (status.ok() || decided->error != 0) return;
  decided->error = status.code();
  std::strncpy(decided->text, last_detail(), sizeof decided->text - 1);
}

}  // namespace

uint64_t SharedFile::size_now() const {
  return std::max({record_.size, written_.end(), committing_.end()});
}

Result<uint64_t> SharedFile::size() {
  if (immediate_) CAIRN_TRY(take_news());
  const std::lock_guard guard(mutex_);
  return size_now();
}

void SharedFile::note_failure(Failure failure) {
  if (failure.code == EFAULT || failure.code == EINVAL || failure.code == EFBIG) return;
  const std::lock_guard guard(mutex_);
  if (failed_.code == 0 || failure.offset < failed_.offset) failed_ = std::move(failure);
}

// `*done` grows by the bytes that are in the part.
Status SharedFile::write_piece(const Target& piece, size_t* done) {
  if (piece.offset > static_cast<uint64_t>(INT64_MAX) - piece.size)
    return fail(EFBIG, "%s: a write at offset %llu would end beyond the largest file",
                path_.c_str(), static_cast<unsigned long long>(piece.offset));
  const auto* bytes = static_cast<const uint8_t*>(piece.buffer);
  for (size_t at = 0; at < piece.size;) {
    auto n = file::write_at(**part_, bytes + at, piece.size - at, piece.offset + at);
    if (!n.ok()) {
      note_failure({n.code(), piece.offset + at, last_detail()});
      const unsigned long long reached = piece.offset + at;
      return annotate(n.status(), "%s: write at offset %llu, pool %s of node %s", path_.c_str(),
                      reached, job_.own_node().path.c_str(), job_.own_node().host.c_str());
    }
    at += *n;
    *done += *n;
  }
  return Status();
}

// Tells the file's home what has been written.
Status SharedFile::post(ByteSet* bytes) {
  const std::vector<ByteRun> runs = bytes->runs();
  for (size_t from = 0; from < runs.size(); from += most_runs) {
    const size_t to = std::min<size_t>(runs.size(), from + most_runs);
    Request ask = request(Op::post);
    ask.which = job_.self();
    ask.runs = to - from;
    auto posted = job_.ask(
        home_node_, ask,
        {runs.begin() + static_cast<ptrdiff_t>(from), runs.begin() + static_cast<ptrdiff_t>(to)});
    if (!posted.ok()) return posted.status();
  }
  return Status();
}

Result<size_t> SharedFile::write(const Target* pieces, size_t count) {
  if (!writable_) return fail(EBADF, "%s: not open for writing", path_.c_str());
  size_t done = 0;
  Status status;
  for (size_t i = 0; i < count && status.ok(); ++i) status = write_piece(pieces[i], &done);
  const auto add_to = [&](ByteSet* set) {
    size_t left = done;
    for (size_t i = 0; i < count && left > 0; ++i) {
      const size_t size = std::min(left, pieces[i].size);
      set->add(pieces[i].offset, pieces[i].offset + size);
      left -= size;
    }
  };
  if (immediate_) {
    const SavedFailure saved(status);
    ByteSet bytes;
    add_to(&bytes);
    status = saved.or_of(post(&bytes));
  } else {
    const std::lock_guard guard(mutex_);
    add_to(&written_);
  }
  if (!status.ok()) return status;
  return done;
}

// What others have posted to the file's home since we last asked.
Status SharedFile::take_news() {
  const std::lock_guard guard(mutex_);
  std::vector<Posted> posted;
  do {
    Request ask = request(Op::news);
    ask.value = news_;
    auto end = job_.ask(home_node_, ask, {}, &posted);
    if (!end.ok()) return end.status();
    for (const Posted& one : posted) {
      if (one.node >= job_.nodes())
        return fail(EIO, "%s: invalid news: not from a node of the job", path_.c_str());
      record_.map.add(one.run, record_.node_of(job_.node(static_cast<uint32_t>(one.node))));
      record_.size = std::max(record_.size, one.run.end());
    }
    news_ += static_cast<int64_t>(posted.size());
    if (news_ == *end) return Status();
  } while (!posted.empty());
  return fail(EIO, "%s: invalid news: the home of the file sent too few", path_.c_str());
}

// With the record's lock, so that it stays where it is. A directory that it lies in may have got
// another name since the file was opened.
Result<Record> SharedFile::newest_record() {
  auto newest = read_record(job_.records(), path_);
  const bool is_away = newest.ok() ? newest->uuid != record_.uuid : newest.code() == ENOENT;
  if (!is_away) return newest;
  CAIRN_TRY_ASSIGN(times, times_moved(job_));
  if (times == looked_when_moved_) return newest;  // deleted
  CAIRN_TRY_ASSIGN(path, find_record(job_, record_.uuid));
  looked_when_moved_ = times;
  if (path.empty()) return newest;
  path_ = path;
  return read_record(job_.records(), path_);
}

Status SharedFile::publish(const std::vector<Share>& written, uint64_t end, bool cut,
                           uint64_t size) {
  const Uuid uuid = record_.uuid;
  CAIRN_TRY(lock_record(job_, uuid, path_));
  Status status;
  bool gone = false;
  // Another group may have committed since.
  auto newest = newest_record();
  if (newest.ok() && newest->uuid == record_.uuid) {
    if (newest->epoch != record_.epoch) {
      record_ = std::move(*newest);
      news_ = committed_news_;
    }
  } else if (newest.ok() || newest.code() == ENOENT) {
    gone = true;  // deleted while it is open: its bytes stay ours until we close it
  } else {
    status = newest.status();
  }
  if (status.ok() && immediate_) status = take_news();
  if (status.ok()) {
    const bool changed = cut || !written.empty() || news_ != committed_news_ || end > record_.size;
    for (const Share& share : written)
      record_.map.add(share.run, record_.node_of(job_.node(share.node)));
    record_.size = std::max(record_.size, end);
    if (cut) {
      record_.map.truncate(size);
      record_.base.end = std::min(record_.base.end, size);
      record_.size = size;
    }
    if (changed) {
      ++record_.epoch;
      record_.mtime = file::now_ns();
      if (!gone) status = write_record(job_.records(), path_, record_, false);
    }
  }
  const SavedFailure saved(status);
  const Status unlocked = unlock_record(job_, uuid);
  return saved.or_of(unlocked);
}

Status SharedFile::commit(const Also& also) {
  Said mine;
  std::vector<ByteRun> runs;
  std::string problem;
  const auto fails = [&](Status status) {
    if (status.ok() || mine.error != 0) return;
    mine.error = status.code();
    problem = last_detail();
  };
  {
    const std::lock_guard guard(mutex_);
    runs = written_.runs();
    mine.end = written_.end();
    mine.node = job_.self();
    committing_ = std::exchange(written_, {});
    const Failure failed = std::exchange(failed_, {});
    // What is cut off is wanted by nobody any more.
    if (failed.code != 0 && !(also.cut && failed.offset >= also.size))
      fails(fail(failed.code, "%s: a write at offset %llu failed before, pool %s of node %s: %s",
                 path_.c_str(), static_cast<unsigned long long>(failed.offset),
                 job_.own_node().path.c_str(), job_.own_node().host.c_str(), failed.cause.c_str()));
  }
  // What is not durable is not told of.
  if (part_ != nullptr && writable_) {
    const Status synced = file::sync_file(job_.fs(), (**part_).map());
    fails(synced);
    if (!synced.ok()) runs.clear();
  }
  mine.runs = runs.size();
  const size_t problem_at = sizeof mine + runs.size() * sizeof(ByteRun);
  Bytes bytes(problem_at + problem.size());
  std::memcpy(bytes.data(), &mine, sizeof mine);
  if (!runs.empty())
    std::memcpy(bytes.data() + sizeof mine, runs.data(), runs.size() * sizeof(ByteRun));
  if (!problem.empty()) std::memcpy(bytes.data() + problem_at, problem.data(), problem.size());

  Decided decided;
  std::vector<Share> written;
  uint64_t end = 0;
  Status status = group_.gather(bytes, [&](uint32_t, const uint8_t* at, size_t length) {
    Said said;
    std::memcpy(&said, at, sizeof said);
    const uint8_t* from = at + sizeof said;
    for (uint64_t i = 0; i < said.runs; ++i, from += sizeof(ByteRun)) {
      Share share;
      std::memcpy(&share.run, from, sizeof(ByteRun));
      share.node = said.node;
      written.push_back(share);
    }
    if (said.error != 0)
      set_error(&decided, fail(said.error, "%.*s", static_cast<int>(at + length - from),
                               reinterpret_cast<const char*>(from)));
    end = std::max(end, said.end);
  });
  if (status.ok() && group_.is_first()) {
    join_neighbours(&written);
    const Status published = publish(written, end, also.cut, also.size);
    decided.done = published.ok() ? 1 : 0;
    set_error(&decided, published);
    if (also.close) set_error(&decided, stop_counting());
    decided.news = news_;
    bytes.resize(sizeof decided);
    std::memcpy(bytes.data(), &decided, sizeof decided);
    const Bytes record = bytes_of(record_);
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  if (status.ok()) status = group_.broadcast(&bytes);
  if (!status.ok()) return status;
  std::memcpy(&decided, bytes.data(), sizeof decided);
  auto record = record_of(bytes.data() + sizeof decided, bytes.size() - sizeof decided, path_);
  if (!record.ok()) return record.status();
  {
    const std::lock_guard guard(mutex_);
    if (decided.done != 0) {
      record_ = std::move(*record);
      news_ = committed_news_ = decided.news;
      committing_.clear();
    } else {
      for (const ByteRun& run : runs)
        visit_pieces(run, 0, run.end(),
                     [&](uint64_t from, uint64_t to) { written_.add(from, to); });
      committing_.clear();
    }
  }
  if (group_.is_first() && immediate_) {
    Request ask = request(Op::trim);
    ask.value = decided.news;
    if (auto trimmed = job_.ask(home_node_, ask); !trimmed.ok() && decided.error == 0)
      set_error(&decided, trimmed.status());
  }
  return decided.error == 0 ? Status() : fail(decided.error, "%s", decided.text);
}

Status SharedFile::commit() { return commit(Also()); }

Status SharedFile::truncate(uint64_t size) {
  if (!writable_) return fail(EBADF, "%s: not open for writing", path_.c_str());
  // Before the record says so: all ranks give the same size.
  if (size > file::max_file_size)
    return fail(EFBIG, "%s: size %llu is beyond the largest file", path_.c_str(),
                static_cast<unsigned long long>(size));
  Status status = commit({true, size, false});
  if (status.ok() && part_ != nullptr && (**part_).inode->size.load() > size)
    status = file::truncate(job_.fs(), (**part_).map(), size);
  // No process writes beyond the new end before each node has cut its part there.
  return group_.agree(status);
}

Status SharedFile::set_immediate(bool on) {
  CAIRN_TRY(commit());
  immediate_ = on;
  return Status();
}

Status SharedFile::close() {
  const Status status = commit({false, 0, true});
  if (group_.is_first())
    job_.ask(home_node_, request(Op::end)).status().ignore();  // the job's end is another
  return status;
}

}  // namespace cairn::cluster
