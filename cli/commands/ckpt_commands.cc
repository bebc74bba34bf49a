// Adds the commands below `cairn ckpt` to the command line.
#include <CLI/CLI.hpp>
#include <memory>

#include "ckpt/ckpt.h"
#include "commands/all_commands.h"
#include "commands/command.h"

namespace cairn::cli {
namespace {

using Action = int (*)(const Config&, bool, const CkptArguments&);

struct Builder {
  CLI::App& parent;
  Context& context;
  std::shared_ptr<CkptArguments> arguments;

  [[nodiscard]] CLI::App* add(const char* name, const char* summary, const char* prose,
                              Action action) const {
    CLI::App* command = add_command(parent, context, name, summary, prose);
    Context& shared = context;
    command->callback([&shared, given = arguments, action] {
      shared.action = [&shared, given, action] {
        return action(shared.config, shared.json, *given);
      };
    });
    return command;
  }
  CLI::Option* set(CLI::App* command, bool is_required) const {
    CLI::Option* option =
        command->add_option("SET", arguments->set, "A set of the configured pool, or POOL:SET.");
    return option->type_name("SET")->required(is_required);
  }
  CLI::Option* version(CLI::App* command, const char* help) const {
    return command->add_option("VERSION", arguments->words, help)->type_name("VERSION");
  }
};

}  // namespace

void add_ckpt_commands(CLI::App& root, Context& context) {
  CLI::App* ckpt = add_command(
      root, context, "ckpt", "Look at checkpoints, verify, export and remove them.",
      "Programs write checkpoints by cairn/checkpoint.h into the pool of their node. A SET has "
      "versions, each a whole or nothing; a VERSION is its number, or latest. Among versions of "
      "one number the newest counts.");
  ckpt->require_subcommand(0, 1);
  const Builder build{*ckpt, context, std::make_shared<CkptArguments>()};
  const char* bytes_help = "Print sizes in bytes.";

  CLI::App* ls = build.add(
      "ls", "List the sets of a pool, or the versions of a set.",
      "  cairn ckpt ls\n"
      "  cairn ckpt ls field\n"
      "  cairn ckpt ls big:field --json\n\n"
      "A version is abandoned if a run went back to an older one and wrote from there. It is never "
      "the latest again.",
      ckpt_ls);
  build.set(ls, false);
  ls->add_flag("-b,--bytes", build.arguments->bytes, bytes_help);
  ls->add_option("--in", build.arguments->directory,
                 "List the copies that `cairn ckpt drain` wrote to DIR; no pool is needed.")
      ->type_name("DIR");

  CLI::App* show = build.add("show", "Show a version: its variables and attributes.",
                             "  cairn ckpt show field\n  cairn ckpt show field 100", ckpt_show);
  build.set(show, true);
  build.version(show, "The version; the latest if none is given.")->expected(0, 1);

  CLI::App* verify = build.add(
      "verify", "Compare all bytes of versions with their checksums.",
      "Exit code 1 if bytes or records are damaged: each problem is one line. A run may use the "
      "set meanwhile. `cairn ckpt ls` says afterwards when a version was verified.",
      ckpt_verify);
  build.set(verify, true);
  build.version(verify, "The version; all versions if none is given.")->expected(0, 1);

  CLI::App* to_file = build.add(
      "export", "Write a version to one file that is HDF5 and netCDF-4.",
      "Each variable is one dataset in the order of its global array, with its attributes. The "
      "attribute \"dimensions\" names its dimensions. h5py, ncdump, netCDF4, xarray and h5dump "
      "read "
      "the file. The command writes under another name in the same directory, compares all bytes "
      "with the version, and renames the file: it appears complete or not at all. A run may use "
      "the set meanwhile.\n\n"
      "netCDF has fewer types. A float16 or bfloat16 becomes float32, a logical becomes int8 "
      "(0 or 1), an opaque element becomes bytes, each with a note of what it was. float80 and "
      "float128 stand in a second file, FILE.long-double.h5, which is HDF5 only. Ragged arrays, "
      "particles and data of ranks become ragged arrays of the CF conventions.\n\n"
      "If other hosts have parts of the version, run the command on all of them, with the same "
      "FILE "
      "in a directory that they share: each writes its own part, and the last one gives the file "
      "its name. The command says how many parts are missing yet; after --wait in vain it fails. "
      "If a process was killed, run the command again on that host. "
      "Name the version if a run may write another one meanwhile.\n\n"
      "The command loads libhdf5, version 1.10 or later; CAIRN_HDF5 may name the library.\n\n"
      "  cairn ckpt export field field.nc\n"
      "  cairn ckpt export field 100 field-100.nc\n"
      "  srun --ntasks-per-node=1 cairn ckpt export field 100 /lustre/field.nc --wait 600",
      ckpt_export);
  build.set(to_file, true);
  to_file
      ->add_option("VERSION", build.arguments->number, "The version; the latest if none is given.")
      ->type_name("VERSION");
  to_file->add_option("FILE", build.arguments->file, "The file to create.")->type_name("FILE");
  to_file->add_flag("-f,--force", build.arguments->force, "Replace FILE if it exists.");
  to_file
      ->add_option(
          "--wait", build.arguments->wait,
          "Wait up to SECONDS for the parts of other hosts. Ragged arrays, particles and data "
          "of ranks need it, or a second run: their places are known once all hosts have "
          "said how many elements they have.")
      ->type_name("SECONDS");
  to_file->add_flag("--copies", build.arguments->with_copies,
                    "Also write the parts of other hosts, such as lost ones, of which this pool "
                    "has copies.");

  CLI::App* from_file = build.add(
      "import", "Make a version of an HDF5 or netCDF-4 file.",
      "Writes the datasets of the file's root group as a version of a set that has none. What "
      "`cairn ckpt export` wrote gets its types, attributes and number back. A program can restart "
      "from it on any number of ranks. The file must fit into memory beside the pool.\n\n"
      "  cairn ckpt import field.nc restored",
      ckpt_import);
  from_file->add_option("FILE", build.arguments->file, "The file to read.")
      ->type_name("FILE")
      ->required();
  build.set(from_file, true);
  from_file
      ->add_option("--number", build.arguments->number,
                   "The version's number; by default that of the exported version, or 0.")
      ->type_name("N");

  CLI::App* diff = build.add(
      "diff", "Compare two versions, variable by variable.",
      "A and B are SET, SET@VERSION or POOL:SET@VERSION. Exit code 1 if a variable differs, or is "
      "missing on one side. Attributes are not compared.\n\n"
      "  cairn ckpt diff field@100 field@200\n"
      "  cairn ckpt diff field restored",
      ckpt_diff);
  diff->add_option("A", build.arguments->set, "A version.")->type_name("SET")->required();
  diff->add_option("B", build.arguments->words, "Another one.")
      ->type_name("SET")
      ->required()
      ->expected(1);

  CLI::App* drain = build.add(
      "drain", "Copy a version to a directory that outlives the node.",
      "The copy is verbatim, with the checksums of the commit, below DIR/.cairn-checkpoints. The "
      "command syncs it, reads it back and compares all bytes; only then the copy counts. A run "
      "may "
      "use the set meanwhile. A copy that is there already stays.\n\n"
      "Of a version that several hosts wrote, each host copies its own part: run the command on "
      "all of them. The copy counts once the last part is there.\n\n"
      "  cairn ckpt drain field --to /scratch/me/run7 --keep 2\n"
      "  cairn ckpt ls --in /scratch/me/run7",
      ckpt_drain);
  build.set(drain, true);
  drain->add_option("VERSION", build.arguments->number, "The version; the latest if none is given.")
      ->type_name("VERSION");
  drain->add_option("--to", build.arguments->directory, "The directory, which exists.")
      ->type_name("DIR")
      ->required();
  drain
      ->add_option("--keep", build.arguments->keep,
                   "Remove all but the newest N copies of the set from DIR afterwards. Copies of "
                   "the line before a run that began anew stay.")
      ->type_name("N");
  drain->add_flag("--drop-copies", build.arguments->drops_copies,
                  "Remove copies of lines before the newest one from DIR afterwards.");

  CLI::App* restore = build.add(
      "restore", "Get a set back from a directory, into a pool that lost it.",
      "Copies the newest version that is whole into the pool and commits it there: a program then "
      "restarts from it as usual. All bytes are compared with their checksums. If a newer copy is "
      "damaged, the command says so and takes the one before. The pool must have no version of the "
      "set.\n\n"
      "A run that begins anew (CAIRN_CHECKPOINT_FRESH) leaves the copies of the line before in "
      "DIR. "
      "--earlier gets back the newest of these.\n\n"
      "  cairn ckpt restore field --from /scratch/me/run7",
      ckpt_restore);
  build.set(restore, true);
  restore->add_option("--from", build.arguments->directory, "The directory of `cairn ckpt drain`.")
      ->type_name("DIR")
      ->required();
  restore->add_flag("--earlier", build.arguments->is_earlier,
                    "Get back the line before the newest one.");

  CLI::App* rm = build.add(
      "rm", "Remove versions, or a whole set.",
      "Fails while a run uses the set, or a process reads the version. The last version that is "
      "whole is kept unless --force is given: the command reads the others first. Without a "
      "VERSION it removes the set, which needs --force if the set has versions.\n\n"
      "  cairn ckpt rm field 100 200\n"
      "  cairn ckpt rm --damaged field\n"
      "  cairn ckpt rm --force field",
      ckpt_rm);
  build.set(rm, true);
  build.version(rm, "Versions to remove; the whole set if none is given.");
  rm->add_flag("-f,--force", build.arguments->force,
               "Remove also the last version that is whole, or a set with versions.");
  rm->add_flag("--damaged", build.arguments->damaged,
               "Remove versions whose records are damaged, and nothing else. Name one whose bytes "
               "are damaged, as `verify` says.");

  CLI::App* du = build.add("du", "Show the space that sets use.",
                           "A set takes more than its versions have: it keeps room for the next "
                           "one while a run uses it.",
                           ckpt_du);
  build.set(du, false);
  du->add_flag("-b,--bytes", build.arguments->bytes, bytes_help);
}

}  // namespace cairn::cli
