// RemoteWriter writes and reads a file of another node's pool that is open here. The file stays
// there, and each call is a message. After a call has returned, all nodes see its effect, in the
// order of the calls.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>

#include "cluster/remote/remote_pin.h"
#include "cluster/rpc/contents.h"
#include "file/inode/remote.h"

namespace cairn::cluster {

class RemoteWriter final : public RemoteContents, public file::Remote {
 public:
  // `path`: its name, for messages.
  RemoteWriter(std::shared_ptr<RemotePin> hold, std::string path)
      : path_(std::move(path)), hold_(std::move(hold)) {}

  void end() override;
  file::Remote* remote() override { return this; }
  Result<size_t> read(void* buffer, size_t size, uint64_t offset) override;
  Result<size_t> write(const void* buffer, size_t size, uint64_t offset) override;
  Result<size_t> append(const iovec* vector, int count, uint64_t* offset) override;
  Status set_size(uint64_t size) override;
  Status sync() override;
  Status change(const Change& change) override;
  Status look(RemoteAttributes* state) override;

 private:
  // The reply's value; `bytes` follow the request, and `word` the reply.
  Result<int64_t> ask(Request request, const void* bytes, size_t size, uint64_t* word = nullptr);

  [[nodiscard]] Status ended() const;

  const std::string path_;
  std::shared_mutex mutex_;     // exclusive: end()
  std::shared_ptr<RemotePin> hold_;  // null once the job has ended
};

}  // namespace cairn::cluster
