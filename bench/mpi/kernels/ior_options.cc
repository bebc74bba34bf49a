#include "ior_options.h"

#include <cstring>

#include "job.h"

namespace kernels {
namespace {

const char* const help =
    "ior: IOR's pattern: each rank writes blocks by transfers, and reads them back.\n"
    "\n"
    "  -a API          POSIX or MPIIO; default POSIX\n"
    "  -o FILE         the file; file-per-process appends .RANK (eight digits)\n"
    "  -b SIZE         contiguous bytes of one rank in a segment (1m)\n"
    "  -t SIZE         bytes of one call, a multiple of 8 that divides the block (256k)\n"
    "  -s N            segments (1)\n"
    "  -i N            repetitions (1)\n"
    "  -w, -r          write only, read only; default both\n"
    "  -F              one file per process\n"
    "  -c              collective calls (MPIIO)\n"
    "  -e              fsync before close; its time counts to the transfer\n"
    "  -g              barriers between open, transfer and close\n"
    "  -C              read what the next node's ranks wrote (on one node: the next rank)\n"
    "  -Q N            with -C: N nodes on (1)\n"
    "  -z              transfers in random order\n"
    "  -D SECONDS      stop writing after that time; -O stoneWallingWearOut=1: then bring all\n"
    "                  ranks to the most transfers that one made\n"
    "  -G N            seed of the data (0)\n"
    "  -k              keep the file\n";

void take_setting(const std::string& setting, IorOptions* options) {
  if (setting == "stoneWallingWearOut=1")
    options->wear_out = true;
  else if (setting != "stoneWallingWearOut=0")
    usage_error("-O: unknown setting '" + setting + "': expected stoneWallingWearOut=1");
}

Api api_argument(const std::string& text) {
  if (text == "POSIX") return Api::posix;
  if (text == "MPIIO") return Api::mpiio;
  usage_error("-a: unknown API '" + text + "': expected POSIX or MPIIO");
}

void check(const IorOptions& options) {
  if (options.transfer == 0 || options.transfer % 8 != 0)
    usage_error("-t: invalid transfer size " + std::to_string(options.transfer) +
                ": expected a multiple of 8");
  if (options.block == 0 || options.block % options.transfer != 0)
    usage_error("-b: invalid block size " + std::to_string(options.block) +
                ": expected a multiple of the transfer size");
  if (options.collective && options.api != Api::mpiio) usage_error("-c: needs -a MPIIO");
  if (options.collective && options.stonewall_s > 0)
    usage_error("-D: cannot be used with -c, whose calls need all ranks");
}

}  // namespace

IorOptions parse_ior_options(int argc, char** argv) {
  IorOptions options;
  bool reorder = false;
  int64_t nodes_on = 1;
  opterr = 0;
  const auto known = with_common({{"help", no_argument, nullptr, 'h'}});
  for (int option = 0; (option = getopt_long(argc, argv, "a:o:b:t:s:i:wrFcegCQ:zD:O:G:kh",
                                             known.data(), nullptr)) != -1;) {
    if (take_common(option, &options.common)) continue;
    const std::string value = optarg == nullptr ? "" : optarg;
    switch (option) {
      case 'a':
        options.api = api_argument(value);
        break;
      case 'o':
        options.path = path_argument(value);
        break;
      case 'b':
        options.block = size_argument("-b", value);
        break;
      case 't':
        options.transfer = size_argument("-t", value);
        break;
      case 's':
        options.segments = count_argument("-s", value, 1);
        break;
      case 'i':
        options.repetitions = static_cast<int>(count_argument("-i", value, 1));
        break;
      case 'w':
        options.write = true;
        break;
      case 'r':
        options.read = true;
        break;
      case 'F':
        options.file_per_rank = true;
        break;
      case 'c':
        options.collective = true;
        break;
      case 'e':
        options.fsync = true;
        break;
      case 'g':
        options.barriers = true;
        break;
      case 'C':
        reorder = true;
        break;
      case 'Q':
        nodes_on = count_argument("-Q", value, 0);
        break;
      case 'z':
        options.random_order = true;
        break;
      case 'D':
        options.stonewall_s = count_argument("-D", value, 0);
        break;
      case 'O':
        take_setting(value, &options);
        break;
      case 'G':
        options.seed = count_argument("-G", value, 0);
        break;
      case 'k':
        options.common.keep = true;
        break;
      case 'h':
        show_help(std::string(help) + common_help());
      default:
        unknown_option(argv);
    }
  }
  if (optind < argc) usage_error(std::string("one argument too many: ") + argv[optind]);
  if (!options.write && !options.read) options.write = options.read = true;
  if (reorder) options.shift = nodes_on * (job().nodes > 1 ? job().ranks_per_node : 1);
  check(options);
  return options;
}

}  // namespace kernels
