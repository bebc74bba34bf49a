#include "parts/ior_options.h"

#include <strings.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "common/job.h"

namespace kernels {
namespace {

Format summary_format(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "json") return Format::json;
  if (name == "csv") return Format::csv;
  if (name != "default")
    mistake("-O: unknown summaryFormat '" + name + "': expected default, JSON or CSV");
  return Format::original;
}

// One of IOR's directives, NAME=VALUE; the case of NAME does not matter.
void take_setting(const std::string& setting, IorOptions* options) {
  const size_t equals = std::min(setting.find('='), setting.size());
  const std::string name = setting.substr(0, equals);
  const std::string value = equals < setting.size() ? setting.substr(equals + 1) : "";
  const auto is = [&](const char* known) { return strcasecmp(name.c_str(), known) == 0; };
  if (is("stoneWallingWearOut") && (value == "0" || value == "1"))
    options->wear_out = value == "1";
  else if (is("summaryFormat"))
    options->common.format = summary_format(value);
  else if (is("summaryFile") && !value.empty())
    options->summary_file = path_argument(value);
  else
    mistake("-O: unknown setting '" + setting +
            "': expected stoneWallingWearOut=1, summaryFormat=CSV or summaryFile=FILE");
}

void take_settings(const std::string& text, IorOptions* options) {
  std::istringstream settings(text);
  for (std::string setting; std::getline(settings, setting, ',');) take_setting(setting, options);
}

// IOR's types of data: names or their first letters.
void check_data_type(const std::string& type) {
  for (const char* known : {"offset", "incompressible", "timestamp", "random"})
    if (type == known || type == std::string(1, *known)) return;
  mistake("-l: unknown type '" + type + "': expected offset, incompressible, timestamp or random");
}

void check_sizes(const IorOptions& options, Mistakes* mistakes) {
  if (options.transfer == 0 || options.transfer % 8 != 0)
    mistakes->add("-t: invalid transfer size " + std::to_string(options.transfer) +
                  ": expected a multiple of 8");
  else if (options.block == 0 || options.block % options.transfer != 0)
    mistakes->add("-b: invalid block size " + std::to_string(options.block) +
                  ": expected a multiple of the transfer size, " +
                  std::to_string(options.transfer));
  check_call("-t", options.api, options.transfer, mistakes);
  check_file_size("-b, -s",
                  {options.block, options.segments, options.file_per_rank ? 1 : job().ranks},
                  mistakes);
}

void check(const IorOptions& options, Mistakes* mistakes) {
  check_sizes(options, mistakes);
  if (options.collective && options.api == Api::posix) mistakes->add("-c: needs -a MPIIO or HDF5");
  if (options.shift != 0 && options.sides.readers != "same-rank")
    mistakes->add("--readers: cannot be used with -C, which also says whose data a rank reads");
  if (options.collective && options.stonewall_s > 0)
    mistakes->add("-D: cannot be used with -c, whose calls need all ranks");
  if (options.fsync_each && options.api != Api::posix && options.stonewall_s > 0)
    mistakes->add("-D: cannot be used with -Y but for POSIX, as a sync needs all ranks");
}

}  // namespace

const Description description = {
    .about = "IOR's pattern: blocks and transfers, a shared file or one for each process",
    .usage = "[options] -o FILE",
    .accesses = {{"write", {"open", "transfer", "sync", "close"}},
                 {"read", {"open", "transfer", "close"}}},
    .verifies = "every byte, which each rank reads once more from what another rank wrote",
    .bytes = {.medium = "ranks * segments * block",
              .memory = "ranks * 2 * transfer",
              .call = "transfer"},
};

IorOptions parse_ior_options(int argc, char** argv) {
  IorOptions options;
  bool reorder = false;
  int64_t nodes_on = 1;
  Arguments arguments(description, &options.common);
  arguments
      .api("POSIX, MPIIO or HDF5 (one dataset of bytes); default POSIX",
           {Api::posix, Api::mpiio, Api::hdf5}, &options.api)
      .as("api");
  arguments.flag("-e", "fsync before close; its time counts to the transfer", &options.fsync)
      .as("fsync");
  arguments.flag("-Y", "fsync after each write; its time counts to the transfer",
                 &options.fsync_each);
  arguments.flag("-c", "collective calls (MPIIO, HDF5)", &options.collective).as("collective");
  arguments.flag("-g", "barriers between open, transfer and close", &options.barriers)
      .as("barriers");
  arguments
      .flag("-C", "read what the next node's ranks wrote; on one node: the next rank", &reorder)
      .as("reorder")
      .unless = "readers";
  arguments.count("-Q", "N", "with -C: N nodes on", &nodes_on);
  arguments.flag("-z", "transfers in random order", &options.random_order).as("random_order");
  arguments
      .flag("--latency", "time each call, for its percentiles; costs some 50 ns a call",
            &options.latency)
      .as("latency");
  Option& at_offset = arguments.flag(
      "--pwrite", "POSIX: pwrite and pread; default lseek and write or read, as in IOR",
      &options.lseek, false);
  at_offset.as_not("lseek").key_standard = true;
  arguments.flag("--lseek", "the default, for scripts that say so", &options.lseek);
  arguments.flag("-F", "one file per process, FILE.RANK with eight digits", &options.file_per_rank)
      .as_word("layout", "file-per-process", "shared", "shared");
  arguments.size("-b", "contiguous bytes of one rank in a segment", &options.block).as("block");
  arguments
      .size("-t", "bytes of one call, a multiple of 8 that divides the block", &options.transfer)
      .as("transfer");
  arguments.count("-s", "N", "segments", &options.segments, 1).as("segments").grows();
  arguments.path("-o", "FILE", "the file", &options.path).in_run("ior");
  arguments.count("-i", "N", "repetitions", &options.repetitions, 1);
  arguments.flag("-w", "--write-only", &options.sides.write_only);
  arguments.flag("-r", "--read-only", &options.sides.read_only);
  arguments.count("-D", "SECONDS", "stop writing after that time", &options.stonewall_s)
      .standard = {};
  arguments.text("-O", "SETTINGS",
                 "stoneWallingWearOut=1: after -D, bring all ranks to the most transfers that one "
                 "made; summaryFormat=default, JSON or CSV, as --format; summaryFile=FILE: the "
                 "results go there",
                 [&](const std::string& settings) { take_settings(settings, &options); });
  arguments.text("-G", "N", "seed of the data (0)", [&](const std::string& text) {
    const bool is_negative = text.starts_with('-');
    const int64_t seed = count_argument("-G", text.substr(is_negative ? 1 : 0));
    options.seed = is_negative ? -seed : seed;
  });
  Option& type = arguments.ignored("-l", "TYPE", "IOR's type of data; it is always as with offset");
  type.take = [take = type.take](const std::string& text) {
    check_data_type(text);
    take(text);
  };
  arguments.ignored("-v", "", "more lines");
  arguments.ignored("-H", "", "shows the hints, which the JSON object has anyway");
  arguments.flag("-k", "--keep", &options.common.keep);
  arguments.existing(&options.existing);
  arguments.flag("-E", "--existing", &options.existing);
  side_arguments(&arguments, &options.sides);
  arguments.parse(argc, argv, [&](Mistakes* mistakes) {
    if (reorder) options.shift = nodes_on * (job().nodes > 1 ? job().ranks_per_node : 1);
    check(options, mistakes);
  });
  return options;
}

}  // namespace kernels
