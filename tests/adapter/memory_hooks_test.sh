#!/usr/bin/env bash
# A library that is between us and the C library for memory calls and goes to the kernel by number,
# as UCX does for MPI: its calls do not come back to it, and it sees each call once.
set -euo pipefail
covered=${CAIRN_TEST_DIR:-}/adapter/covered_program
[ -e "$covered" ] || { echo "$covered is not built"; exit 77; }
# Its runtime maps memory of its own, which would be counted.
[[ "${CAIRN_SANITIZE:-}" != *address* ]] ||
  { echo "AddressSanitizer's runtime is between, too"; exit 77; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/work"

cat > "$scratch/hooks.c" <<'C'
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
__thread int depth, deepest, seen;
#define HOOKED(type, ...)                       \
  if (++depth > deepest) deepest = depth;       \
  if (depth > 9) _exit(9);                      \
  ++seen;                                       \
  type done = (type)syscall(__VA_ARGS__);       \
  --depth;                                      \
  return done
void* mmap(void* at, size_t size, int protection, int flags, int fd, off_t offset) {
  HOOKED(void*, SYS_mmap, at, size, protection, flags, fd, offset);
}
int munmap(void* at, size_t size) { HOOKED(int, SYS_munmap, at, size); }
void* mremap(void* at, size_t size, size_t new_size, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  void* to = va_arg(rest, void*);
  va_end(rest);
  HOOKED(void*, SYS_mremap, at, size, new_size, flags, to);
}
int madvise(void* at, size_t size, int advice) { HOOKED(int, SYS_madvise, at, size, advice); }
int msync(void* at, size_t size, int flags) { HOOKED(int, SYS_msync, at, size, flags); }
C
cat > "$scratch/program.c" <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
extern __thread int depth, deepest, seen;
#define NEED(condition)                               \
  if (!(condition)) {                                 \
    printf("line %d: %s\n", __LINE__, #condition);    \
    return 1;                                         \
  }
enum { kSize = 1 << 16 };
int main(void) {
  int shared = MAP_SHARED, all = PROT_READ | PROT_WRITE, none = MAP_PRIVATE | MAP_ANONYMOUS;
  char* own = mmap(NULL, kSize, all, none, -1, 0);
  NEED(own != MAP_FAILED && seen == 1);
  strcpy(own, "own");
  int fd = open("file", O_CREAT | O_RDWR, 0644);
  NEED(fd >= 0 && ftruncate(fd, kSize) == 0);
  char* ours = mmap(NULL, kSize, all, shared, fd, 0);
  NEED(ours != MAP_FAILED);
  strcpy(ours + 4096, "mapped");
  NEED(msync(ours, kSize, MS_SYNC) == 0);
  char back[7];
  NEED(pread(fd, back, 7, 4096) == 7 && strcmp(back, "mapped") == 0);
  // Other memory in the place of some of it, and away again, and all of it.
  char* other = mmap(ours, 4096, all, none | MAP_FIXED, -1, 0);
  NEED(other == ours && ours[0] == 0 && strcmp(ours + 4096, "mapped") == 0);
  int before = seen;
  NEED(munmap(other, 4096) == 0 && seen == before + 1);
  NEED(munmap(ours + 4096, kSize - 4096) == 0);
  before = seen;
  NEED(madvise(own, kSize, MADV_NORMAL) == 0 && seen == before + 1);
  own = mremap(own, kSize, 2 * kSize, MREMAP_MAYMOVE);
  NEED(own != MAP_FAILED && strcmp(own, "own") == 0 && seen == before + 2);
  NEED(munmap(own, 2 * kSize) == 0 && seen == before + 3);
  printf("%d deep\n", deepest);
  return 0;
}
C
cc=${CAIRN_CC:-cc}
"$cc" -shared -fPIC -o "$scratch/libhooks.so" "$scratch/hooks.c"
"$cc" -o "$scratch/program" "$scratch/program.c" -L"$scratch" -lhooks -Wl,-rpath,"$scratch"
for run in plain covered; do
  way=()
  [ $run = plain ] || way=("$covered" "$scratch/pool" 64 "$scratch/work")
  (cd "$scratch/work" && timeout 60 "${way[@]}" "$scratch/program") > "$scratch/said" 2>&1 ||
    { echo "$run: failed: $?"; cat "$scratch/said"; exit 1; }
  [ "$(cat "$scratch/said")" = "1 deep" ] || { echo "$run:"; cat "$scratch/said"; exit 1; }
done
echo "calls by number go past who hooks the names"
