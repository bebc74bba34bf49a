#include "frame/config_text.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>
#include <vector>

#include "text/error.h"

namespace cairn::cli {
namespace {

constexpr size_t most_levels = 8;

using Visit = std::function<void(const std::string&, const std::string*, const std::string&)>;

// Follows the events of one document. All nodes but keys arrive as values of the current key.
class Follower : public YAML::EventHandler {
 public:
  Follower(const std::string& path, const Visit& visit) : path_(path), visit_(visit) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    usage_error("{}: aliases (*name) are not read; write the value again", place(mark));
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (maps_.empty()) return;  // an empty file
    if (is_key()) not_a_key(mark);
    give(nullptr);
  }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& value) override {
    if (maps_.empty()) not_a_map();
    if (!is_key()) return give(&value);
    Map& map = maps_.back();
    map.key = map.prefix + value;
    map.place = place(mark);
    map.has_key = true;
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    if (maps_.empty()) not_a_map();
    if (is_key()) not_a_key(mark);
    give(nullptr);
    // No key takes a list: visit() has refused it.
    usage_error("{}: a list is not read", place(mark));
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    if (maps_.size() == most_levels)
      usage_error("{}: more than {} levels of keys", place(mark), most_levels);
    Map map;
    if (!maps_.empty()) {
      if (is_key()) not_a_key(mark);
      map.prefix = maps_.back().key + ".";
      maps_.back().has_key = false;
    }
    maps_.push_back(std::move(map));
  }
  void OnMapEnd() override { maps_.pop_back(); }

 private:
  struct Map {
    std::string prefix;  // of the keys in it
    std::string key, place;
    bool has_key = false;  // the next node is its value
  };

  [[nodiscard]] bool is_key() const { return !maps_.back().has_key; }
  [[nodiscard]] std::string place(const YAML::Mark& mark) const {
    return fmt::format("{}:{}", path_, mark.line + 1);
  }
  void give(const std::string* value) {
    maps_.back().has_key = false;
    visit_(maps_.back().key, value, maps_.back().place);
  }
  void not_a_key(const YAML::Mark& mark) const { usage_error("{}: invalid key", place(mark)); }
  void not_a_map() const { usage_error("{}: not a map of keys to values", path_); }

  const std::string& path_;
  const Visit& visit_;
  std::vector<Map> maps_;
};

}  // namespace

void read_config_text(const std::string& text, const std::string& path, const Visit& visit) {
  std::istringstream lines(text);
  try {
    YAML::Parser parser(lines);
    Follower follower(path, visit);
    parser.HandleNextDocument(follower);
  } catch (const YAML::Exception& error) {
    usage_error("{}:{}: {}", path, error.mark.line + 1, error.msg);
  }
}

}  // namespace cairn::cli
