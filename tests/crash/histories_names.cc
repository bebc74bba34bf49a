// Histories of names: files, links and directories that are made, renamed and removed.
#include <fcntl.h>

#include "crash/histories.h"
#include "crash/history_steps.h"

namespace cairn::test {
namespace {

void create(CrashLab& lab) {
  step(lab, "create", [](cairn_pool* p) { return cairn_close(open_file(p, "new")); });
  step(lab, "create",
       [](cairn_pool* p) { return cairn_mknod(p, CAIRN_ROOT, "d/newer", S_IFREG | 0600); });
}

void unlink(CrashLab& lab) {
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "b"); });
  step(lab, "create after it", [](cairn_pool* p) { return cairn_close(open_file(p, "new")); });
  write_step(lab, "write after it", "new", 'n', 6000, 100);
}

void unlink_while_open(CrashLab& lab) {
  cairn_file* file = open_file(lab.pool(), "b");
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "b"); });
  lab.perform("close", Kind::atomic, [=] { ok(cairn_close(file)); });
}

void rename(CrashLab& lab) {
  step(lab, "rename",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "a", CAIRN_ROOT, "c", 0); });
  step(lab, "to another directory",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "c", CAIRN_ROOT, "d/c", 0); });
  step(lab, "over another",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d/c", CAIRN_ROOT, "b", 0); });
  step(lab, "exchange",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "b", CAIRN_ROOT, "d/f", 2); });
  step(lab, "a directory",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d", CAIRN_ROOT, "e/d", 0); });
}

void rename_directory_over(CrashLab& lab) {
  step(lab, "mkdir", [](cairn_pool* p) { return cairn_mkdir(p, CAIRN_ROOT, "d/sub", 0700); });
  step(lab, "over an empty directory",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d/sub", CAIRN_ROOT, "e", 0); });
  step(lab, "exchange directories",
       [](cairn_pool* p) { return cairn_rename(p, CAIRN_ROOT, "d", CAIRN_ROOT, "e", 2); });
}

void link(CrashLab& lab) {
  step(lab, "link",
       [](cairn_pool* p) { return cairn_link(p, CAIRN_ROOT, "a", CAIRN_ROOT, "d/a2", 0); });
  step(lab, "unlink the first", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "a"); });
}

void directories(CrashLab& lab) {
  step(lab, "mkdir", [](cairn_pool* p) { return cairn_mkdir(p, CAIRN_ROOT, "e/g", 0700); });
  step(lab, "create in it", [](cairn_pool* p) { return cairn_close(open_file(p, "e/g/x")); });
  step(lab, "unlink in it", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "e/g/x"); });
  step(lab, "rmdir", [](cairn_pool* p) { return cairn_rmdir(p, CAIRN_ROOT, "e/g"); });
}

void symlinks(CrashLab& lab) {
  step(lab, "symlink", [](cairn_pool* p) { return cairn_symlink(p, "short", CAIRN_ROOT, "s"); });
  step(lab, "long symlink",
       [](cairn_pool* p) { return cairn_symlink(p, text('l', 700).c_str(), CAIRN_ROOT, "l"); });
  step(lab, "unlink", [](cairn_pool* p) { return cairn_unlink(p, CAIRN_ROOT, "l"); });
}

}  // namespace

std::vector<History> histories_of_names() {
  return {
      {"create", 1, some_files, create},
      {"unlink", 1, some_files, unlink},
      {"unlink while open", 1, some_files, unlink_while_open},
      {"rename", 1, some_files, rename},
      {"rename directories", 1, some_files, rename_directory_over},
      {"link", 1, some_files, link},
      {"directories", 1, some_files, directories},
      {"symbolic links", 1, some_files, symlinks},
  };
}

}  // namespace cairn::test
