// Where a file's bytes lie: writes one with plain calls, drains it, evicts it, stages it again.
//
//   cc tiers.c -o tiers $(pkg-config --cflags --libs cairn)
//   mkdir results
//   cairn run --at results -- ./tiers results/checkpoint
//
// With `cairn run --drain close` a keeper drains the file as soon as it is closed; the program then
// only waits for it (cairn_tier_wait).
#include <cairn/cover.h>
#include <cairn/tier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char* call) {
  fprintf(stderr, "tiers: %s: %s\n", call, cairn_last_error());
  return 1;
}

static int show(cairn_cover* cover, const char* when, const char* path) {
  cairn_residency r = {.struct_size = sizeof r};
  if (cairn_tier_residency(cover, path, &r) != 0) return failed("cairn_tier_residency");
  printf("%s: %llu bytes in the pool, %llu only in the directory, %llu undrained\n", when,
         (unsigned long long)r.pool_bytes, (unsigned long long)r.lower_bytes,
         (unsigned long long)r.undrained_bytes);
  return 0;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: cairn run --at DIR -- tiers DIR/FILE\n");
    return 2;
  }
  cairn_pool* pool = NULL;
  cairn_cover* cover = NULL;
  if (cairn_tier_join(&pool, &cover) != 0) return failed("cairn_tier_join");

  // Nothing of Cairn here: `cairn run` serves these calls.
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) {
    perror(argv[1]);
    return 1;
  }
  static char bytes[1 << 20];
  memset(bytes, 'c', sizeof bytes);
  for (int i = 0; i < 8; ++i) fwrite(bytes, 1, sizeof bytes, file);
  if (fclose(file) != 0) {
    perror(argv[1]);
    return 1;
  }

  // The library knows the file by its real path, or by its path below the covered directory.
  char* path = realpath(argv[1], NULL);
  int code = show(cover, "written", path);
  if (code == 0 && cairn_tier_drain(cover, path) != 0) code = failed("cairn_tier_drain");
  if (code == 0) code = show(cover, "drained", path);
  if (code == 0 && cairn_tier_evict(cover, path, NULL) != 0) code = failed("cairn_tier_evict");
  if (code == 0) code = show(cover, "evicted", path);
  if (code == 0 && cairn_tier_stage(cover, path) != 0) code = failed("cairn_tier_stage");
  if (code == 0) code = show(cover, "staged", path);
  free(path);
  cairn_cover_close(cover);
  cairn_pool_detach(pool);
  return code;
}
