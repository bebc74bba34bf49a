/* What users other than root may do, and what their changes take from a file. See show.h. Only root can become
 * another user: for others both runs end at once. */
#include <grp.h>

#include "show.h"

enum { kUser = 1000, kGroup = 1000, kOther = 2000, kFarther = 2500 };

/* The caller's effective user, in two groups or as root in his own. */
static void become(uid_t user) {
  gid_t groups[2] = {kGroup, kOther};
  if (seteuid(0) != 0 || setegid(user == 0 ? 0 : kGroup) != 0) exit(1);
  if (setgroups(user == 0 ? 0 : 2, groups) != 0) exit(1);
  if (user != 0 && seteuid(user) != 0) exit(1);
  printf("as %d\n", (int)user);
}

static void show_owner(const char* path) {
  struct stat st;
  if (lstat(path, &st) != 0) perror(path);
  printf("%s: %o of %d:%d\n", path, (int)st.st_mode, (int)st.st_uid, (int)st.st_gid);
}

/* A file of the user's, with this mode. */
static void give(const char* path, mode_t mode) {
  uid_t user = geteuid();
  if (seteuid(0) != 0) exit(1);
  close(make(path, "some text"));
  if (chown(path, kUser, kGroup) != 0 || chmod(path, mode) != 0) exit(1);
  if (seteuid(user) != 0) exit(1);
}

#define OWNED(path, call) \
  do {                    \
    SHOW(call);           \
    show_owner(path);     \
  } while (0)

static void change_owners(void) {
  const mode_t modes[] = {0644, 06777, 06644, 02644, 02654, 04600};
  for (unsigned i = 0; i < sizeof modes / sizeof *modes; ++i) {
    give("mine", modes[i]);
    printf("mode %o\n", modes[i]);
    OWNED("mine", chown("mine", -1, kOther));
    OWNED("mine", chown("mine", -1, kFarther));
    OWNED("mine", chown("mine", kUser, kOther));
    OWNED("mine", chown("mine", kUser, 0));
    OWNED("mine", chown("mine", 0, -1));
    give("mine", modes[i]);
    OWNED("mine", chown("mine", -1, -1));
    OWNED("mine", chown("roots", -1, kOther));
    OWNED("roots", chown("roots", -1, -1));
    OWNED("roots4", chown("roots4", -1, -1));
  }
}

static void owners(void) {
  if (geteuid() != 0) return;
  close(make("roots", "")), close(make("roots4", "")), chmod("roots4", 04755);
  mkdir("sgid", 0755), chown("sgid", kUser, kFarther);
  become(kUser);
  change_owners();
  OWNED("sgid", chmod("sgid", 02755));
  OWNED("sgid", chown("sgid", -1, kOther));
  OWNED("sgid", chmod("sgid", 02755));
  OWNED("sgid", chown("sgid", -1, kGroup));
  become(0);
  change_owners();
}

PARTS({"owners", owners})
