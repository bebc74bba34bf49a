#include "parts/ior_options.h"

#include "common/job.h"

namespace kernels {
namespace {

const char* const help =
    "ior: IOR's pattern: each rank writes blocks by transfers, and reads them back.\n"
    "\n"
    "  -a API          POSIX, MPIIO or HDF5 (one dataset of bytes); default POSIX\n"
    "  -o FILE         the file; file-per-process appends .RANK (eight digits)\n"
    "  -b SIZE         contiguous bytes of one rank in a segment (1m)\n"
    "  -t SIZE         bytes of one call, a multiple of 8 that divides the block (256k)\n"
    "  -s N            segments (1)\n"
    "  -i N            repetitions (1)\n"
    "  -w, -r          --write-only, --read-only\n"
    "  -F              one file per process\n"
    "  -c              collective calls (MPIIO, HDF5)\n"
    "  -e              fsync before close; its time counts to the transfer\n"
    "  -g              barriers between open, transfer and close\n"
    "  -C              read what the next node's ranks wrote (on one node: the next rank)\n"
    "  -Q N            with -C: N nodes on (1)\n"
    "  -z              transfers in random order\n"
    "  -D SECONDS      stop writing after that time; -O stoneWallingWearOut=1: then bring all\n"
    "                  ranks to the most transfers that one made\n"
    "  -G N            seed of the data (0)\n"
    "  --latency       time each call, for its percentiles; costs some 50 ns a call\n"
    "  -k              keep the file\n";

void take_setting(const std::string& setting, IorOptions* options) {
  if (setting == "stoneWallingWearOut=1")
    options->wear_out = true;
  else if (setting != "stoneWallingWearOut=0")
    usage_error("-O: unknown setting '" + setting + "': expected stoneWallingWearOut=1");
}

void check(const IorOptions& options) {
  if (options.transfer == 0 || options.transfer % 8 != 0)
    usage_error("-t: invalid transfer size " + std::to_string(options.transfer) +
                ": expected a multiple of 8");
  if (options.block == 0 || options.block % options.transfer != 0)
    usage_error("-b: invalid block size " + std::to_string(options.block) +
                ": expected a multiple of the transfer size");
  if (options.collective && options.api == Api::posix) usage_error("-c: needs -a MPIIO or HDF5");
  if (options.shift != 0 && options.sides.readers != Readers::same_rank)
    usage_error("--readers: cannot be used with -C, which also says whose data a rank reads");
  if (options.collective && options.stonewall_s > 0)
    usage_error("-D: cannot be used with -c, whose calls need all ranks");
}

}  // namespace

IorOptions parse_ior_options(int argc, char** argv) {
  IorOptions options;
  bool reorder = false;
  int64_t nodes_on = 1;
  Arguments arguments(std::string(help) + sides_help, &options.common);
  side_arguments(&arguments, &options.sides);
  arguments.api("-a", {Api::posix, Api::mpiio, Api::hdf5}, &options.api);
  arguments.path("-o", &options.path);
  arguments.size("-b", &options.block);
  arguments.size("-t", &options.transfer);
  arguments.count("-s", &options.segments, 1);
  arguments.count("-i", &options.repetitions, 1);
  arguments.flag("-w", &options.sides.write_only);
  arguments.flag("-r", &options.sides.read_only);
  arguments.flag("-F", &options.file_per_rank);
  arguments.flag("-c", &options.collective);
  arguments.flag("-e", &options.fsync);
  arguments.flag("-g", &options.barriers);
  arguments.flag("-C", &reorder);
  arguments.count("-Q", &nodes_on);
  arguments.flag("-z", &options.random_order);
  arguments.count("-D", &options.stonewall_s);
  arguments.value("-O", [&](const std::string& setting) { take_setting(setting, &options); });
  arguments.count("-G", &options.seed);
  arguments.flag("--latency", &options.latency);
  arguments.flag("-k", &options.common.keep);
  arguments.parse_all(argc, argv);
  if (reorder) options.shift = nodes_on * (job().nodes > 1 ? job().ranks_per_node : 1);
  check(options);
  return options;
}

}  // namespace kernels
