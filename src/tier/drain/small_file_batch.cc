// Drains small files of one directory together: writes them under temporary names, makes all of
// them durable concurrently, and then gives each its name. An fsync waits some 5 ms for the disk,
// and a copy takes 50 us, so one fsync after the other would take most of the time.
#include "tier/drain/small_file_batch.h"

#include <pthread.h>
#include <signal.h>  // NOLINT: pthread_sigmask
#include <sys/stat.h>

#include <array>
#include <atomic>

#include "tier/drain/batch_limits.h"
#include "tier/drain/drain_file.h"
#include "tier/drain/write_temp_file.h"
#include "tier/replace/drain_state.h"
#include "tier/replace/publish.h"
#include "tier/system/listing.h"

namespace cairn::tier {
namespace {

struct Sync {
  int fd = -1;  // -1: of something without one, which the sync of its directory makes durable
  int64_t result = 0;
};

// Makes files durable by several threads, so that the file system does it in few steps.
class AtOnce {
 public:
  explicit AtOnce(std::vector<Sync>& all) : all_(all) {}
  void run() {
    std::array<pthread_t, most_threads> threads;
    size_t started = 0;
    sigset_t every;
    sigset_t before;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);  // no signal handler runs in these threads
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    while (started < most_threads && started + 1 < all_.size() &&
           pthread_create(&threads[started], &attributes, work, this) == 0)
      ++started;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    work(this);
    for (size_t i = 0; i < started; ++i) pthread_join(threads[i], nullptr);
  }

 private:
  static constexpr size_t most_threads = 31;
  static constexpr size_t stack_bytes = 256 << 10;
  static void* work(void* all) {
    auto* const self = static_cast<AtOnce*>(all);
    for (size_t i = self->next_++; i < self->all_.size(); i = self->next_++)
      if (self->all_[i].fd >= 0) self->all_[i].result = sys::fsync(self->all_[i].fd);
    return nullptr;
  }
  std::vector<Sync>& all_;
  std::atomic<size_t> next_ = 0;
};

}  // namespace

bool SmallFileBatch::suits(file::FileSystem& fs, const DrainDirectory& where,
                           const file::Listed& listed, const file::Map& map) {
  const file::Inode& inode = *map.inode;
  return S_ISREG(inode.mode.load()) && inode.links.load() == 1 &&
         inode.size.load() <= largest_in_batch && (inode.flags.load() & format::flag_lazy) == 0 &&
         !is_drained(fs, where, listed, map);
}

void SmallFileBatch::add(const file::Listed& listed, const file::Map& map) {
  const uint64_t size = map.inode->size.load();
  if (files_.size() == most_temp_files || bytes_ + size > most_bytes_in_batch) drain();
  files_.push_back({listed, map});
  bytes_ += size;
}

size_t SmallFileBatch::drain_some(size_t from) {
  struct WrittenFile {
    const BatchedFile* one;
    TempFile temp;
  };
  std::vector<WrittenFile> written;
  std::vector<const BatchedFile*> again;
  size_t at = from;
  for (; at < files_.size() && !state_.cancelled; ++at) {
    const BatchedFile& one = files_[at];
    WrittenFile next{&one, {}};
    if (!needs_writing({state_, where_, lower_, one.listed, one.map}, &next.temp.expected))
      continue;
    next.temp.name = numbered_temp_name(state_.temp_name, written.size());
    next.temp.has_company = !written.empty();
    const Tried tried = write_temp_file({state_, where_, lower_, one.listed, one.map}, &next.temp);
    if (tried == Tried::crowded) break;
    if (tried == Tried::done) written.push_back(std::move(next));
    if (tried == Tried::again) again.push_back(&one);
  }
  std::vector<Sync> syncs;
  syncs.reserve(written.size());
  for (const WrittenFile& file : written) syncs.push_back({file.temp.file.get(), 0});
  if (!syncs.empty()) AtOnce(syncs).run();
  for (size_t i = 0; i < written.size(); ++i) {
    const BatchedFile& one = *written[i].one;
    if (publish_temp_file({state_, where_, lower_, one.listed, one.map}, syncs[i].result,
                          &written[i].temp) == Tried::again)
      again.push_back(&one);
  }
  for (const BatchedFile* one : again) {
    if (state_.cancelled) break;
    drain_name({state_, where_, lower_, one->listed, one->map});
  }
  return at;
}

void SmallFileBatch::drain() {
  for (size_t at = 0; at < files_.size() && !state_.cancelled;) at = drain_some(at);
  files_.clear();
  bytes_ = 0;
}

}  // namespace cairn::tier
