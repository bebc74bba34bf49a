// Histories of directories that grow: by many names, and by long ones.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"

namespace cairn::test {
namespace {

// A directory that outgrows its blocks and its index: 1024 names crowd 512 buckets.
void crowd(CrashLab& lab) {
  ok(cairn_mkdir(lab.pool(), CAIRN_ROOT, "crowd", 0700));
  ok(cairn_close(open_file(lab.pool(), "one")));
  for (int i = 0; i < 1023; ++i)
    ok(cairn_link(lab.pool(), CAIRN_ROOT, "one", CAIRN_ROOT, ("crowd/" + std::to_string(i)).c_str(),
                  0));
}

void split_index(CrashLab& lab) {
  for (int i = 0; i < 4; ++i) {
    lab.perform("link in a crowded directory", Kind::atomic, [&lab, i] {
      ok(cairn_link(lab.pool(), CAIRN_ROOT, "one", CAIRN_ROOT,
                    ("crowd/next" + std::to_string(i)).c_str(), 0));
    });
  }
}

void long_names(CrashLab& lab) {
  for (char c : {'p', 'q', 'r'}) {
    lab.perform("a long name", Kind::atomic,
                [&lab, c] { ok(cairn_close(open_file(lab.pool(), text(c, 255).c_str()))); });
  }
  for (int i = 0; i < 14; ++i) {
    lab.perform("a name", Kind::atomic, [&lab, i] {
      ok(cairn_mknod(lab.pool(), CAIRN_ROOT, (text('m', 100) + std::to_string(i)).c_str(),
                     S_IFREG | 0600));
    });
  }
  lab.perform("unlink", Kind::atomic,
              [&lab] { ok(cairn_unlink(lab.pool(), CAIRN_ROOT, text('q', 255).c_str())); });
}

}  // namespace

std::vector<History> histories_of_crowds() {
  return {
      {"index split", 1, crowd, split_index},
      {"long names", 1, some_files, long_names},
  };
}

}  // namespace cairn::test
