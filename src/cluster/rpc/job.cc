#include "cluster/rpc/job.h"

#include <fcntl.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "cluster/record/cover_records.h"
#include "tier/record/parts.h"

namespace cairn::cluster {
namespace {

constexpr size_t most_served_parts = 64;

int compare_pools(const Node& node, const uint8_t* pool) {
  return std::memcmp(node.pool, pool, sizeof node.pool);
}

bool is_removed(const Part& part) { return (**part).inode->links.load() == 0; }

}  // namespace

Job::Job(file::FileSystem& fs, Place place, Ask messenger, StillWaiting waiting, void* context)
    : fs_(fs),
      place_(std::move(place)),
      records_(records_of(fs, place_.directory, place_.cover)),
      own_(node(place_.self)),
      by_pool_(place_.count),
      messenger_(messenger),
      waiting_(waiting),
      context_(context) {
  std::iota(by_pool_.begin(), by_pool_.end(), 0U);
  std::sort(by_pool_.begin(), by_pool_.end(), [&](uint32_t a, uint32_t b) {
    return compare_pools(place_.nodes[a], place_.nodes[b].pool) < 0;
  });
}

RecordNode Job::node(uint32_t number) const {
  const Node& from = place_.nodes[number];
  RecordNode node;
  std::memcpy(node.pool.data(), from.pool, node.pool.size());
  node.host = from.host;
  node.path = from.path;
  return node;
}

uint32_t Job::number_of(const Uuid& pool) const {
  const auto found = std::lower_bound(
      by_pool_.begin(), by_pool_.end(), pool, [&](uint32_t number, const Uuid& wanted) {
        return compare_pools(place_.nodes[number], wanted.data()) < 0;
      });
  const bool known =
      found != by_pool_.end() && compare_pools(place_.nodes[*found], pool.data()) == 0;
  return known ? *found : place_.count;
}

Status Job::not_in_job(const RecordNode& node, const std::string& path, uint64_t begin,
                       uint64_t end) const {
  const auto tell = [&](const char* which, const std::string& what_helps) {
    return fail(EIO, "%s: bytes %llu to %llu lie in pool %s of node %s, which %s: %s", path.c_str(),
                static_cast<unsigned long long>(begin), static_cast<unsigned long long>(end),
                node.path.c_str(), node.host.c_str(), which, what_helps.c_str());
  };
  const auto* const last = place_.nodes + place_.count;
  const auto* const same =
      std::find_if(place_.nodes, last, [&](const Node& one) { return node.host == one.host; });
  if (same == last)
    return tell("is not part of this job", "start it on that node too, or run `cairn drain " +
                                               directory() + "` on all nodes that wrote the file");
  // A pool's name may be that of an older one.
  if (node.path == same->path)
    return tell("is not there any more",
                "that node has created a new one, as after a restart or when the pool was removed; "
                "these bytes are lost, and the file can only be written anew");
  return tell("is not the pool that the node has in this job",
              std::string("it has pool ") + same->path +
                  " here; start the job with the pool that holds the bytes, if it is still there");
}

Result<Part> Job::part(const Uuid& uuid, bool make) {
  const std::lock_guard guard(parts_mutex_);
  return open_part(uuid, make);
}

// Before the pool holds a part that a record names.
Status Job::note_records() const {
  const auto records = RecordsDirectory::open(records_);
  if (records.code() == ENOENT) return Status();
  CAIRN_TRY(records.status());
  return tier::note_records(fs_, place_.cover, records->descriptor());
}

Result<Part> Job::open_part(const Uuid& uuid, bool make) {
  if (const auto known = parts_.find(uuid); known != parts_.end())
    if (Part part = known->second.lock()) return part;
  if (make) CAIRN_TRY(note_records());
  auto inode = tier::find_part(fs_, place_.cover, hex_of(uuid), make);
  if (!inode.ok()) return inode.status();
  if (*inode == 0)
    return fail(ENOENT, "pool %s holds no part of this file", own_node().path.c_str());
  auto opened = std::make_shared<tier::PoolFile>(fs_, *inode, O_RDWR);
  if (!opened->status().ok()) return opened->status();
  std::erase_if(parts_, [](const auto& one) { return one.second.expired(); });
  parts_[uuid] = opened;
  return opened;
}

Result<Part> Job::part_to_serve(const Uuid& uuid) {
  const std::lock_guard guard(parts_mutex_);
  if (const auto known = served_.find(uuid); known != served_.end()) return known->second;
  CAIRN_TRY_ASSIGN(part, open_part(uuid, false));
  if (is_removed(part)) return part;
  if (served_.size() >= most_served_parts) served_.erase(served_.begin());
  served_[uuid] = part;
  return part;
}

Status Job::remove_part(const Uuid& uuid) {
  const Status status = tier::remove_part(fs_, place_.cover, hex_of(uuid));
  const std::lock_guard guard(parts_mutex_);
  std::erase_if(served_,
                [&](const auto& one) { return one.first == uuid || is_removed(one.second); });
  return status;
}

Status Job::clean() {
  std::set<std::string> parts;
  CAIRN_TRY(tier::for_each_part(fs_, place_.cover, [&](const std::string& uuid, uint64_t) {
    parts.insert(uuid);
    return Status();
  }));
  if (parts.empty()) return Status();
  const auto opened = open_records_of(fs_, place_.directory, place_.cover);
  // Another directory has the path. A drain tells of it.
  if (opened.code() == ESTALE) return Status();
  CAIRN_TRY(opened.status());
  if (opened->kept) return Status();
  PassedOver passed;
  const auto visit = [&](const std::string& path) -> Status {
    auto record = read_record(opened->records, path);
    if (record.ok()) parts.erase(hex_of(record->uuid));
    const bool is_gone = record.code() == ENOENT && check_gone(opened->records, path).ok();
    // One that cannot be read may know any of them. A drain tells of it.
    if (!record.ok() && !is_gone) parts.clear();
    return Status();
  };
  if (opened->found) CAIRN_TRY(for_each_shared(opened->records, visit, &passed));
  if (!passed.path.empty()) return Status();
  for (const std::string& uuid : parts) CAIRN_TRY(tier::remove_part(fs_, place_.cover, uuid));
  return Status();
}

Status Job::ask(Question* questions, size_t count) const {
  if (count == 0) return Status();
  if (messenger_ == nullptr) return fail(ENOTSUP, "this job has only one node");
  if (ended_) return fail(EIO, "other nodes cannot be asked any more: the job has ended");
  if (silent_)
    return fail(EIO,
                "this process was forked from a process of an MPI job and cannot ask other nodes");
  if (const int result = messenger_(context_, questions, count); result < 0)
    return fail(-result, "asking other nodes: %s", std::strerror(-result));
  for (size_t i = 0; i < count; ++i) {
    const Question& question = questions[i];
    const auto* reply = static_cast<const Reply*>(question.reply);
    const char* host = host_of(question.node);
    if (question.got < sizeof(Reply) || question.got != sizeof(Reply) + reply->size)
      return fail(EIO, "node %s: invalid reply of %zu bytes", host, question.got);
    if (reply->error != 0)
      return fail(reply->error, "node %s: %.*s", host, static_cast<int>(reply->size),
                  reinterpret_cast<const char*>(reply + 1));
  }
  return Status();
}

Result<int64_t> Job::ask(uint32_t node, const Request& request, const std::vector<ByteRun>& runs,
                         std::vector<Posted>* posted) const {
  std::vector<uint8_t> bytes(sizeof request + runs.size() * sizeof(ByteRun));
  std::memcpy(bytes.data(), &request, sizeof request);
  if (!runs.empty())
    std::memcpy(bytes.data() + sizeof request, runs.data(), runs.size() * sizeof(ByteRun));
  // Errors bring a line of text.
  constexpr size_t text = detail_capacity;
  std::vector<uint8_t> reply(sizeof(Reply) +
                             (posted == nullptr ? text : most_news * sizeof(Posted)));
  Question question = {node, bytes.data(), bytes.size(), reply.data(), reply.size(), 0};
  CAIRN_TRY(ask(&question, 1));
  Reply head = {};
  std::memcpy(&head, reply.data(), sizeof head);
  if (posted != nullptr) {
    posted->resize(head.size / sizeof(Posted));
    if (!posted->empty())
      std::memcpy(posted->data(), reply.data() + sizeof head, posted->size() * sizeof(Posted));
  }
  return head.value;
}

std::vector<Past> Job::heard() {
  const std::lock_guard guard(heard_mutex_);
  heard_.resize(nodes());
  return heard_;
}

void Job::note_taken(const std::vector<Past>& of_nodes) {
  const std::lock_guard guard(heard_mutex_);
  heard_.resize(nodes());
  for (size_t node = 0; node < of_nodes.size(); ++node)
    heard_[node].taken = std::max(heard_[node].taken, of_nodes[node].taken);
}

void Job::note_renamings(const std::vector<Past>& of_nodes) {
  const std::lock_guard guard(heard_mutex_);
  heard_.resize(nodes());
  for (size_t node = 0; node < of_nodes.size(); ++node)
    heard_[node].renamings = std::max(heard_[node].renamings, of_nodes[node].renamings);
}

void Job::note_renaming(bool begins) {
  const uint32_t before = renamings.load();
  const bool is_under_way = (before & 1) != 0;
  if (begins)
    renamings = before + (is_under_way ? 2 : 1);
  else if (is_under_way)
    renamings = before + 1;
}

void Job::add_contents(const std::shared_ptr<RemoteContents>& contents) {
  const std::lock_guard guard(contents_mutex_);
  std::erase_if(contents_, [](const auto& one) { return one.expired(); });
  contents_.push_back(contents);
}

void Job::end_contents() {
  ended_ = true;
  const std::lock_guard guard(contents_mutex_);
  for (const auto& one : contents_)
    if (const auto contents = one.lock()) contents->end();
  contents_.clear();
}

}  // namespace cairn::cluster
