// cairn/adapter/transport.h in a process without an MPI.
#include <gtest/gtest.h>

#include <cerrno>

#include "cairn/adapter/transport.h"

namespace {

TEST(Transport, NeedsAnMpi) {
  const cairn_transport_client client = {"test", 0, nullptr, nullptr, 0, 0};
  const cairn_node node = {};
  cairn_transport* transport = nullptr;
  EXPECT_EQ(cairn_transport_join(0, &node, &client, &transport), -ENOPKG);
  EXPECT_STREQ(cairn_last_error(), "test: this process has loaded no MPI that Cairn knows");
}

TEST(Transport, RefusesWhatIsMissing) {
  cairn_transport_client client = {nullptr, 0, nullptr, nullptr, 0, 0};
  cairn_transport* transport = nullptr;
  EXPECT_EQ(cairn_transport_join(0, nullptr, nullptr, &transport), -EFAULT);
  EXPECT_EQ(cairn_transport_join(0, nullptr, &client, &transport), -EFAULT);
  client.name = "test";
  client.flags = 2;
  EXPECT_EQ(cairn_transport_join(0, nullptr, &client, &transport), -EINVAL);
}

}  // namespace
