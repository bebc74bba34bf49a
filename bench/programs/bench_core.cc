// bench_core: the data path, the metadata, the life of a pool and the checkpoint loop against their
// bars. docs/results/method.md tells the rows' meaning and how they are judged.
#include <sys/resource.h>

#include <cstdio>
#include <cstring>

#include "cairn/cairn.h"
#include "core/rows.h"
#include "loop/checkpoint_worker.h"

namespace cairn::bench {
namespace {

int run(int argc, char** argv) {
  const Settings settings =
      parse_settings(argc, argv, "files in a pool, by the C API, against copying and tmpfs");
  Report report;
  report.fact("cairn", cairn_version());
  report.fact("machine", machine_name());
  report.fact("last-level cache", size_name(settings.cache));
  report.fact("working set", size_name(settings.working_set));
  report.fact("pairs", std::to_string(settings.pairs));

  Medium shm = Medium::shared_memory();
  Medium huge = settings.medium == "shm" ? Medium::shared_memory() : Medium::huge_pages();
  if (!shm.ok() || (!huge.ok() && settings.medium == "huge")) {
    std::fprintf(stderr, "bench_core: %s\n", (shm.ok() ? huge : shm).why().c_str());
    return 2;
  }
  const Medium& medium = huge.ok() && huge.has_large_pages() ? huge : shm;
  report.fact("medium", medium.description());
  if (!huge.ok()) report.fact("why no 2 MiB pages", huge.why());
  if (settings.quick) report.fact("quick", "a smaller set and few pairs: no judgement of speed");

  overwrite_rows(settings, medium, report);
  read_rows(settings, medium, report);
  fresh_rows(settings, medium, report);
  durable_rows(settings, medium, report);
  append_rows(settings, medium, report);
  random_rows(settings, medium, report);
  process_rows(settings, medium, report);
  first_pass_rows(settings, shm, report);
  metadata_rows(settings, medium, report);
  life_rows(settings, medium, report);
  checkpoint_rows(settings, huge, shm, report);

  return report.conclude(settings.json);
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  if (argc == 3 && std::strcmp(argv[1], tell_attach) == 0) return tell_attach_time(argv[2], false);
  if (argc == 3 && std::strcmp(argv[1], tell_attach_and_read) == 0)
    return tell_attach_time(argv[2], true);
  if (argc > 1 && std::strcmp(argv[1], checkpoint_worker) == 0)
    return serve_checkpoints(argc, argv);
  return cairn::bench::supervised(cairn::bench::run, argc, argv);
}
