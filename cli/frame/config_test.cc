#include "frame/config.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "text/error.h"

namespace cairn::cli {
namespace {

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    char name[] = "/tmp/cairn-config-XXXXXX";
    directory_ = mkdtemp(name);
  }
  ~ConfigTest() override { EXPECT_EQ(system(("rm -rf " + directory_).c_str()), 0); }

  std::string file(const std::string& name, const std::string& text) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  Config load(const std::map<std::string, std::string>& environment,
              const std::string& system_file = "/none") {
    std::vector<std::string> names;
    for (const auto& [name, value] : environment) names.push_back(name);
    return Config::load(
        [&](const std::string& name) {
          const auto found = environment.find(name);
          return found == environment.end() ? nullptr : found->second.c_str();
        },
        names, system_file);
  }
  static std::string error_of(const std::function<void()>& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), exit_usage);
      return error.what();
    }
    return "no error";
  }
  std::string directory_;
};

TEST_F(ConfigTest, KeysHaveOneNameInThreePlaces) {
  for (const Key& key : keys()) {
    if (key.name != "pool.size") continue;
    EXPECT_EQ(key.environment(), "CAIRN_POOL_SIZE");
    EXPECT_EQ(key.option(), "--pool-size");
  }
  for (const Key& key : keys()) {  // every default is a value that the key takes
    Config config;
    config.set(key.name, key.standard, "test");
    EXPECT_FALSE(key.help.empty());
  }
}

TEST_F(ConfigTest, LaterOriginsWin) {
  const std::string machine = file("etc.yaml", "pool:\n  dir: /a\n  name: a\n  size: 1G\n");
  ASSERT_EQ(mkdir((directory_ + "/cairn").c_str(), 0700), 0);
  const std::string own = file("cairn/cairn.yaml", "# mine\npool.name: b\npool: {size: 2G}\n");
  Config config = load({{"XDG_CONFIG_HOME", directory_}, {"CAIRN_POOL_SIZE", "3G"}}, machine);
  EXPECT_EQ(config.value("pool.dir"), "/a");
  EXPECT_EQ(config.at("pool.dir").origin, machine + ":2");
  EXPECT_EQ(config.value("pool.name"), "b");
  EXPECT_EQ(config.at("pool.name").origin, own + ":2");
  EXPECT_EQ(config.value("pool.size"), "3G");
  EXPECT_EQ(config.at("pool.size").origin, "environment CAIRN_POOL_SIZE");
  EXPECT_EQ(config.at("durability").origin, "default");
  EXPECT_FALSE(config.is_set("durability"));
  config.set("pool.size", "4G", "command line");
  EXPECT_EQ(config.value("pool.size"), "4G");
  EXPECT_EQ(config.files().size(), 2U);
}

TEST_F(ConfigTest, NamedFileReplacesTheOthers) {
  const std::string named = file("other.yaml", "durability: write\n");
  const std::string machine = file("etc.yaml", "pool.name: a\n");
  const Config config = load({{"CAIRN_CONFIG", named}}, machine);
  EXPECT_EQ(config.value("durability"), "write");
  EXPECT_EQ(config.value("pool.name"), "default");
  EXPECT_NE(error_of([&] {
              load({{"CAIRN_CONFIG", "/none.yaml"}});
            }).find("/none.yaml"),
            std::string::npos);
}

TEST_F(ConfigTest, MistakesNamePlaceAndNearestName) {
  std::string bad = file("bad.yaml", "pool:\n  dir: /a\n  sise: 1G\n");
  EXPECT_EQ(error_of([&] { Config().read_file(bad); }),
            bad + ":3: unknown key pool.sise; did you mean pool.size?");
  bad = file("bad.yaml", "drain.mode: exti\n");
  EXPECT_EQ(error_of([&] { Config().read_file(bad); }),
            "drain.mode (" + bad +
                ":1): 'exti' is not one of exit|close|async|never; did you mean exit?");
  bad = file("bad.yaml", "pool.size: [1, 2]\n");
  EXPECT_EQ(error_of([&] { Config().read_file(bad); }), bad + ":1: pool.size takes one value");
  bad = file("bad.yaml", "pool: {size\n");
  EXPECT_NE(error_of([&] { Config().read_file(bad); }).find(bad + ":"), std::string::npos);
  bad = file("bad.yaml", "just text\n");
  EXPECT_NE(error_of([&] { Config().read_file(bad); }).find("not a map"), std::string::npos);
  EXPECT_NE(error_of([&] {
              load({{"CAIRN_POOL_SIZE", "many"}});
            }).find("CAIRN_POOL_SIZE"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              load({{"CAIRN_POOL_SZIE", "1G"}});
            }).find("did you mean CAIRN_POOL_SIZE?"),
            std::string::npos);
  EXPECT_NE(error_of([&] { load({{"CAIRN_POOL_NAME", "a/b"}}); }).find("a/b"), std::string::npos);
}

TEST_F(ConfigTest, EmptyFilesAndForeignVariablesAreFine) {
  Config().read_file(file("empty.yaml", ""));
  load({{"CAIRN_BIN_DIR", "/x"},
        {"CAIRN_POOL", "/x"},
        {"CAIRN_COVER", "/x"},
        {"CAIRN_POOL_SIZE", ""}});
}

TEST_F(ConfigTest, OnlyFilesOfTheUserAndOfRootCount) {
  const std::string path = file("cairn.yaml", "durability: write\n");
  EXPECT_EQ(chmod(path.c_str(), 0664), 0);
  EXPECT_NE(error_of([&] { Config().read_file(path); }).find("others can write to it (mode 0664)"),
            std::string::npos);
  EXPECT_EQ(chmod(path.c_str(), 0644), 0);
  Config().read_file(path);
  if (geteuid() != 0) return;  // only root can give a file away
  ASSERT_EQ(chown(path.c_str(), 61002, 61002), 0);
  EXPECT_NE(error_of([&] { Config().read_file(path); }).find("belongs to user 61002"),
            std::string::npos);
}

TEST_F(ConfigTest, FilesThatAreFoundAndDoNotCountGiveANotice) {
  ASSERT_EQ(mkdir((directory_ + "/cairn").c_str(), 0700), 0);
  const std::string own = file("cairn/cairn.yaml", "durability: write\n");
  EXPECT_EQ(chmod(own.c_str(), 0666), 0);
  const Config config = load({{"XDG_CONFIG_HOME", directory_}});
  EXPECT_EQ(config.value("durability"), "fsync");
  ASSERT_EQ(config.notices().size(), 1U);
  EXPECT_EQ(config.notices()[0].rfind(own + ": ", 0), 0U) << config.notices()[0];
}

TEST_F(ConfigTest, RelativePathsDoNotCount) {
  for (const char* name : {"XDG_CONFIG_HOME", "HOME"}) {
    const Config config = load({{name, "."}});
    ASSERT_EQ(config.notices().size(), 1U) << name;
    EXPECT_NE(config.notices()[0].find("not an absolute path"), std::string::npos);
  }
  EXPECT_NE(error_of([&] {
              load({{"CAIRN_CONFIG", "cairn.yaml"}});
            }).find("absolute path"),
            std::string::npos);
}

TEST_F(ConfigTest, OnlySmallRegularFilesAreRead) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const std::string large = file("large.yaml", "# " + std::string(65536, 'x') + "\n");
  const std::pair<std::string, std::string> cases[] = {{fifo, "a FIFO"},
                                                       {"/dev/zero", "a device"},
                                                       {directory_, "a directory"},
                                                       {large, "larger than 64"}};
  for (const auto& [path, says] : cases)
    EXPECT_NE(error_of([&, path = path] { Config().read_file(path); }).find(says),
              std::string::npos)
        << path;
}

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(ConfigTest, TextsThatStandForMoreThanTheyHoldAreRefused) {
  const std::string bomb = "a: &a {}\nb: &b {c: *a, d: *a}\ne: {f: *b, g: *b}\n";
  for (const std::string& text :
       {std::string("a: &a\n  b: *a\n"), bomb, std::string("pool.size: &s 1G\npool.name: *s\n"),
        repeated("{a: ", 12000), repeated("[", 60000), repeated("? ", 30000),
        "a: " + repeated("[", 60000), repeated("- ", 30000)}) {
    const std::string error = error_of([&] { Config().read_file(file("bad.yaml", text)); });
    EXPECT_NE(error, "no error") << text.substr(0, 40);
    EXPECT_LT(error.size(), 500U);
  }
  EXPECT_EQ(error_of([&] { Config().read_file(file("bad.yaml", "a: &a\n  b: *a\n")); }),
            directory_ + "/bad.yaml:2: aliases (*name) are not read; write the value again");
}

}  // namespace
}  // namespace cairn::cli
