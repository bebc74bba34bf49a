#include "cluster/server/serve.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/fresh_pool.h"

namespace cairn::cluster {
namespace {

class ServeTest : public file::FreshPool {
 protected:
  ServeTest() : job(*fs, {"/none", "none", &node, 1, 0}, nullptr, nullptr, nullptr) {}

  Reply ask(const void* message, size_t size) {
    const size_t length = serve(job, message, size, reply.data());
    Reply head = {};
    std::memcpy(&head, reply.data(), sizeof head);
    EXPECT_EQ(length, sizeof head + head.size);
    return head;
  }
  Reply ask(Op op, const std::string& text = "", uint64_t runs = 0) {
    Request request = {};
    request.op = op;
    request.runs = runs;
    request.text = text.size();
    std::vector<uint8_t> message(sizeof request + runs * sizeof(ByteRun) + text.size());
    std::memcpy(message.data(), &request, sizeof request);
    std::memcpy(message.data() + message.size() - text.size(), text.data(), text.size());
    return ask(message.data(), message.size());
  }
  std::string error_text(const Reply& head) const {
    return {reinterpret_cast<const char*>(reply.data()) + sizeof head, head.size};
  }

  Node node = {};
  Job job;
  std::vector<uint8_t> reply = std::vector<uint8_t>(reply_capacity);
};

TEST_F(ServeTest, RefusesAMessageThatIsNotAsLongAsItSays) {
  Request request = {};
  request.op = Op::look_names;
  EXPECT_EQ(ask(&request, sizeof request - 1).error, EINVAL);
  EXPECT_EQ(ask(&request, sizeof request).error, 0);
  request.text = 1;
  EXPECT_EQ(ask(&request, sizeof request).error, EINVAL);
  // Lengths whose sum wraps around.
  request.text = UINT64_MAX;
  EXPECT_EQ(ask(&request, sizeof request).error, EINVAL);
  request.text = 0;
  request.runs = UINT64_MAX / sizeof(ByteRun) + 1;
  EXPECT_EQ(ask(&request, sizeof request).error, EINVAL);
}

TEST_F(ServeTest, RefusesAnOperationThatItDoesNotKnow) {
  for (const uint32_t op : {uint32_t{0}, static_cast<uint32_t>(Op::end) + 1, UINT32_MAX}) {
    const Reply head = ask(static_cast<Op>(op));
    EXPECT_EQ(head.error, EINVAL) << op;
    EXPECT_NE(error_text(head).find("unknown"), std::string::npos) << error_text(head);
  }
}

TEST_F(ServeTest, RefusesAPathWithoutWhatBelongsToIt) {
  for (const Op op : {Op::change_name, Op::rename_file})
    EXPECT_EQ(ask(op, "a path alone").error, EINVAL) << static_cast<uint32_t>(op);
  for (const Op op : {Op::change_file, Op::reserve_file, Op::release_reserved, Op::take_file})
    EXPECT_EQ(ask(op, std::string("path\0short", 10)).error, EINVAL) << static_cast<uint32_t>(op);
}

TEST_F(ServeTest, RefusesCallsOfAFileThatIsNotHeld) {
  for (const Op op : {Op::read_held, Op::write_held, Op::look_held})
    EXPECT_EQ(ask(op, "", 1).error, EIO) << static_cast<uint32_t>(op);
  EXPECT_EQ(ask(Op::release_file).error, 0);
}

TEST_F(ServeTest, AnswersWithWhatTheCoordinatorSays) {
  Request request = {};
  request.op = Op::lock;
  request.which = 7;
  request.value = 8;
  EXPECT_EQ(ask(&request, sizeof request).value, 1);
  request.value = 9;
  const Reply head = ask(&request, sizeof request);
  EXPECT_EQ(head.value, 0);
  Holder holder = {};
  ASSERT_EQ(head.size, sizeof holder);
  std::memcpy(&holder, reply.data() + sizeof head, sizeof holder);
  EXPECT_EQ(holder.node, 7U);
  EXPECT_EQ(holder.process, 8U);
}

// A renaming of which nobody said that it is over has ended when the next one begins.
TEST_F(ServeTest, CountsRenamingsThatHaveBegunAndAreOver) {
  const auto note = [&](int64_t begins) {
    Request request = {};
    request.op = Op::note_renaming;
    request.value = begins;
    EXPECT_EQ(ask(&request, sizeof request).error, 0);
    return job.renamings.load();
  };
  EXPECT_EQ(note(1), 1U);
  EXPECT_EQ(note(1), 3U);
  EXPECT_EQ(note(0), 4U);
  EXPECT_EQ(note(0), 4U);
}

}  // namespace
}  // namespace cairn::cluster
