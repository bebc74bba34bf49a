/* fts: what a walk shows, in each of its ways. See show.h. */
#include <fts.h>

#include "show.h"

static int by_name(const FTSENT** a, const FTSENT** b) {
  return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void walk(const char* title, int options, int instruction, char* const* roots) {
  printf("-- %s\n", title);
  FTS* walk = fts_open(roots, options, by_name);
  if (walk == NULL) {
    printf("%s\n", strerrorname_np(errno));
    return;
  }
  int again = 0;
  for (FTSENT* entry; (entry = fts_read(walk)) != NULL;) {
    struct stat st;
    int reached = lstat(entry->fts_accpath, &st) == 0, info = entry->fts_info;
    int looked = info != FTS_NS && info != FTS_NSOK && (options & FTS_NOSTAT) == 0;
    if (looked && !S_ISLNK(st.st_mode)) reached = reached && st.st_ino == entry->fts_statp->st_ino;
    printf("%d %s (%s) info %d, error %d, by its name %d, length %d %d, cycle %d\n",
           entry->fts_level, entry->fts_path, entry->fts_name, info, entry->fts_errno, reached,
           entry->fts_pathlen, entry->fts_namelen,
           info == FTS_DC ? entry->fts_cycle->fts_level : -1);
    if (entry->fts_info == FTS_D && strcmp(entry->fts_name, "b") == 0) {
      if (instruction == FTS_SKIP) fts_set(walk, entry, FTS_SKIP);
      if (instruction == FTS_AGAIN && !again++) fts_set(walk, entry, FTS_AGAIN);
      if (instruction == 100 || instruction == FTS_NAMEONLY) {
        FTSENT* child = fts_children(walk, instruction == 100 ? 0 : FTS_NAMEONLY);
        for (; child != NULL; child = child->fts_link)
          printf("  child %s %d\n", child->fts_name, child->fts_info);
      }
    }
    if (entry->fts_info == FTS_SL && instruction == FTS_FOLLOW) fts_set(walk, entry, FTS_FOLLOW);
  }
  printf("end %d\n", errno);
  SHOW(fts_close(walk));
  char* name = getcwd(NULL, 0);
  printf("back in %s\n", strrchr(name, '/') + 1);
  free(name);
}

static void trees(void) {
  mkdir("a", 0755), mkdir("a/b", 0755), mkdir("a/b/c", 0755), mkdir("a/d", 0755);
  close(make("a/f", "1")), close(make("a/b/g", "2")), close(make("a/b/c/h", "3"));
  symlink("../b", "a/d/to-b"), symlink("nowhere", "a/d/dangling"), symlink("..", "a/d/up");
  mkfifo("a/p", 0644);
  char* one[] = {"a", NULL};
  char* more[] = {"a/d/to-b", "a/f", "missing", "./a/b/", ".", NULL};
  char* here[] = {"..", NULL};
  char* empty[] = {"", NULL};
  walk("physical", FTS_PHYSICAL, 0, one);
  walk("physical, here", FTS_PHYSICAL | FTS_NOCHDIR, 0, one);
  walk("logical", FTS_LOGICAL, 0, one);
  walk("no stat", FTS_PHYSICAL | FTS_NOSTAT, 0, one);
  walk("dots", FTS_PHYSICAL | FTS_SEEDOT, 0, one);
  walk("one device", FTS_PHYSICAL | FTS_XDEV, 0, one);
  walk("several", FTS_PHYSICAL, 0, more);
  walk("several, followed", FTS_PHYSICAL | FTS_COMFOLLOW, 0, more);
  walk("skip", FTS_PHYSICAL, FTS_SKIP, one);
  walk("again", FTS_PHYSICAL, FTS_AGAIN, one);
  walk("follow", FTS_PHYSICAL | FTS_NOCHDIR, FTS_FOLLOW, one);
  walk("children", FTS_PHYSICAL, 100, one);
  walk("names of children", FTS_PHYSICAL, FTS_NAMEONLY, one);
  walk("the parent", FTS_PHYSICAL | FTS_NOCHDIR, 0, here);
  walk("empty", FTS_PHYSICAL, 0, empty);
  walk("wrong", 0x4000, 0, one);
}

PARTS({"trees", trees})
