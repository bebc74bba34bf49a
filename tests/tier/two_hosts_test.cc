// One directory that two hosts see, as on a parallel file system, and jobs on both that cover it.
// The other host is a process with a name, a /dev/shm and System V objects of its own.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "model/own_namespaces.h"
#include "tier/cover_fixture.h"

namespace cairn::test {
namespace {

constexpr const char* other_name = "cairn-other-host";
constexpr const char* other_pool = "/dev/shm/pool";
constexpr int not_permitted = 77;

// Does what it is asked, in the order in which it was told to; each call answers with a text.
class OtherHost {
 public:
  using Call = std::function<std::string()>;

  explicit OtherHost(const std::vector<Call>& calls, bool is_namesake = false) {
    if (pipe(ask_) != 0 || pipe(answer_) != 0) std::abort();
    child_ = fork();
    if (child_ != 0) {
      close(ask_[0]);
      close(answer_[1]);
      return;
    }
    close(ask_[1]);  // its parent's death ends it
    close(answer_[0]);
    if (!enter_own_namespaces(CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWIPC) || !become(is_namesake))
      _exit(not_permitted);
    say("there");
    char c = 0;
    for (const Call& call : calls) {
      if (read(ask_[0], &c, 1) != 1) _exit(0);
      say(call());
    }
    _exit(0);
  }
  ~OtherHost() {
    close(ask_[1]);
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(answer_[0]);
  }
  OtherHost(const OtherHost&) = delete;
  OtherHost& operator=(const OtherHost&) = delete;

  [[nodiscard]] bool exists() { return next() == "there"; }
  // The answer to its next call.
  std::string run() { return write(ask_[1], "x", 1) == 1 ? next() : "(gone)"; }

 private:
  static bool become(bool is_namesake) {
    return (is_namesake ||
            sethostname(other_name, std::char_traits<char>::length(other_name)) == 0) &&
           mount("tmpfs", "/dev/shm", "tmpfs", 0, "mode=1777") == 0;
  }
  void say(const std::string& text) {
    const std::string line = text + '\0';
    if (write(answer_[1], line.data(), line.size()) < 0) _exit(1);
  }
  std::string next() {
    std::string text;
    char c = 0;
    while (read(answer_[0], &c, 1) == 1) {
      if (c == '\0') return text;
      text += c;
    }
    return "(gone)";
  }

  int ask_[2] = {};
  int answer_[2] = {};
  pid_t child_ = 0;
};

struct Job {
  std::string pool;
  std::string directory;
  const char* name;
  cairn_pool* attached = nullptr;
  cairn_cover* cover = nullptr;

  std::string open() {
    if (attached == nullptr) {
      cairn_pool_options options = {};
      options.struct_size = sizeof options;
      options.size = 16 << 20;
      if (cairn_pool_create(pool.c_str(), &options) != 0 ||
          cairn_pool_attach(pool.c_str(), 0, &attached) != 0)
        return std::string("pool: ") + cairn_last_error();
    }
    cairn_cover_options options = {};
    options.struct_size = sizeof options;
    options.job = name;
    const int result = cairn_cover_open(attached, directory.c_str(), &options, &cover);
    return result == 0 ? "ok" : std::to_string(result) + " " + cairn_last_error();
  }
  std::string put(const std::string& path, const std::string& text) const {
    cairn_file* file = nullptr;
    int result =
        cairn_open(attached, cairn_cover_top(cover), path.c_str(), O_WRONLY | O_CREAT, 0644, &file);
    if (result != 0) return std::to_string(result) + " " + cairn_last_error();
    const ssize_t n = cairn_write(file, text.data(), text.size());
    cairn_close(file);
    return n == static_cast<ssize_t>(text.size()) ? "ok" : "short";
  }
  std::string drain() const {
    std::string text;
    cairn_drain_report report = {};
    const auto problem = [](void* to, const char* line) {
      *static_cast<std::string*>(to) += std::string("; ") + line;
    };
    const int result = cairn_cover_drain(cover, nullptr, problem, &text, &report);
    return result == 0 ? "ok" : std::to_string(result) + text;
  }
  std::string end() {
    const int result = cairn_cover_discard(cover);
    if (result == 0) cover = nullptr;
    return result == 0 ? "ok" : std::to_string(result) + " " + cairn_last_error();
  }
};

class TwoHosts : public CoverTest {
 protected:
  ~TwoHosts() override {
    if (here.cover != nullptr) cairn_cover_close(here.cover);
    cairn_pool_detach(here.attached);
  }
  Job here{pool_, lower_, "job-1"};
  Job there{other_pool, lower_, "job-2"};
};

TEST_F(TwoHosts, AnotherJobIsRefusedUntilTheFirstHasEnded) {
  OtherHost host({[&] { return there.open(); }, [&] { return there.open(); },
                  [&] { return there.put("file", "theirs"); }, [&] { return there.drain(); }});
  ASSERT_TRUE(host.exists()) << no_namespaces;
  ASSERT_EQ(here.open(), "ok");
  ASSERT_EQ(here.put("file", "ours"), "ok");
  const std::string refused = host.run();
  char name[256];
  gethostname(name, sizeof name);
  EXPECT_EQ(refused.substr(0, 4), std::to_string(-EBUSY) + " ") << refused;
  EXPECT_NE(refused.find("job-1"), std::string::npos) << refused;
  EXPECT_NE(refused.find(name), std::string::npos) << refused;
  ASSERT_EQ(here.drain(), "ok");
  EXPECT_EQ(get(lower_ + "/file"), "ours");
  ASSERT_EQ(here.end(), "ok");
  // Now it is the other's, who sees what was drained and may change it.
  EXPECT_EQ(host.run(), "ok");
  EXPECT_EQ(host.run(), "ok");
  EXPECT_EQ(host.run(), "ok");
  EXPECT_EQ(get(lower_ + "/file"), "theirs");
}

// Its pool cannot be seen from here, so nobody here may take its claim for void.
TEST_F(TwoHosts, TheClaimOfAKilledJobElsewhereStands) {
  {
    OtherHost host({[&] { return there.open(); }, [&] { return there.put("file", "theirs"); }});
    ASSERT_TRUE(host.exists()) << no_namespaces;
    ASSERT_EQ(host.run(), "ok");
    ASSERT_EQ(host.run(), "ok");
  }
  const std::string refused = here.open();
  EXPECT_EQ(refused.substr(0, 4), std::to_string(-EBUSY) + " ") << refused;
  EXPECT_NE(refused.find(other_name), std::string::npos) << refused;
  EXPECT_NE(refused.find("job-2"), std::string::npos) << refused;
}

// Two containers of one host: the same name, and a /dev/shm each.
TEST_F(TwoHosts, TheClaimOfANamesakeStands) {
  {
    OtherHost host({[&] { return there.open(); }, [&] { return there.put("file", "theirs"); }},
                   true);
    ASSERT_TRUE(host.exists()) << no_namespaces;
    ASSERT_EQ(host.run(), "ok");
    ASSERT_EQ(host.run(), "ok");
  }
  const std::string refused = here.open();
  EXPECT_EQ(refused.substr(0, 4), std::to_string(-EBUSY) + " ") << refused;
}

// One job on both: each drains its own files; what the other has drained under a name is not
// replaced.
TEST_F(TwoHosts, OneJobOnBothDrainsWithoutOverwriting) {
  there.name = "job-1";
  put(lower_ + "/old", "0");
  OtherHost host({[&] { return there.open(); },
                  [&] {
                    return there.put("theirs", "t") + there.put("both", "theirs") +
                           there.put("old", "T");
                  },
                  [&] { return there.drain(); }});
  ASSERT_TRUE(host.exists()) << no_namespaces;
  ASSERT_EQ(here.open(), "ok");
  ASSERT_EQ(host.run(), "ok");
  ASSERT_EQ(here.put("ours", "o") + here.put("both", "ours") + here.put("old", "O"), "okokok");
  ASSERT_EQ(host.run(), "okokok");
  ASSERT_EQ(here.drain(), "ok");
  const std::string drained = host.run();
  EXPECT_NE(drained, "ok");
  EXPECT_NE(drained.find("both"), std::string::npos) << drained;
  EXPECT_NE(drained.find("old"), std::string::npos) << drained;
  EXPECT_EQ(get(lower_ + "/ours"), "o");
  EXPECT_EQ(get(lower_ + "/theirs"), "t");
  EXPECT_EQ(get(lower_ + "/both"), "ours");
  EXPECT_EQ(get(lower_ + "/old"), "O");
}

// Who comes without the other is told who has what is missing.
TEST_F(TwoHosts, EachIsToldOfTheOther) {
  there.name = "job-1";
  OtherHost host({[&] { return there.open(); }, [&] { return there.put("theirs", "t"); },
                  [&] { return there.drain(); }, [&] { return there.end(); }});
  ASSERT_TRUE(host.exists()) << no_namespaces;
  ASSERT_EQ(here.open(), "ok");
  const auto others = [&] {
    std::string text;
    const auto visit = [](void* to, const cairn_cover_other* other) {
      bool is_named = false;
      for (const uint8_t byte : other->uuid) is_named = is_named || byte != 0;
      *static_cast<std::string*>(to) +=
          std::string(other->host) + " " + other->pool + " " + other->job + (is_named ? ";" : "?");
    };
    EXPECT_EQ(cairn_cover_others(here.attached, lower_.c_str(), visit, &text), 0);
    return text;
  };
  EXPECT_EQ(others(), "");
  ASSERT_EQ(host.run(), "ok");
  ASSERT_EQ(host.run(), "ok");
  const std::string other = std::string(other_name) + " " + other_pool + " job-1;";
  EXPECT_EQ(others(), other);
  // Also when the claim is its own.
  ASSERT_EQ(here.end(), "ok");
  EXPECT_EQ(others(), other);
  ASSERT_EQ(host.run(), "ok");
  ASSERT_EQ(host.run(), "ok");
  EXPECT_EQ(others(), "");
}

// The one that made the claim goes first: what the other still has to drain stays claimed.
TEST_F(TwoHosts, AClaimLastsUntilTheLastHostOfTheJob) {
  there.name = "job-1";
  OtherHost host({[&] { return there.open(); }, [&] { return there.put("theirs", "t"); },
                  [&] { return there.drain(); }, [&] { return there.end(); }});
  ASSERT_TRUE(host.exists()) << no_namespaces;
  ASSERT_EQ(here.open(), "ok");
  ASSERT_EQ(host.run(), "ok");
  ASSERT_EQ(host.run(), "ok");
  ASSERT_EQ(here.drain(), "ok");
  ASSERT_EQ(here.end(), "ok");
  here.name = "job-3";
  const std::string refused = here.open();
  EXPECT_EQ(refused.substr(0, 4), std::to_string(-EBUSY) + " ") << refused;
  EXPECT_NE(refused.find(other_name), std::string::npos) << refused;
  EXPECT_EQ(host.run(), "ok");
  EXPECT_EQ(host.run(), "ok");
  EXPECT_EQ(here.open(), "ok");
  EXPECT_EQ(get(lower_ + "/theirs"), "t");
}

}  // namespace
}  // namespace cairn::test
