#include "ckpt/export_rendezvous.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "machine/file_name.h"
#include "netcdf/netcdf_form.h"
#include "text/error.h"

namespace cairn::cli {
namespace {

constexpr const char* suffix = ".parts";
constexpr const char* places_name = "places";
// Another release may lay a file out in another way.
constexpr int record_format = 1;
// Counts of a million ranks are some 16 MiB.
constexpr uint64_t most_of_rendezvous = uint64_t{256} << 20;
constexpr uint64_t most_of_mark = 4096;

std::string numbered(const char* what, uint32_t part) {
  return fmt::format("{}-{:05x}", what, part);
}

std::string directory_name(const std::string& file, const CkptVersion& version) {
  std::string run = version.info.run;
  std::erase(run, '-');
  return fmt::format("{}.{}-{:x}{}", file, run, version.info.sequence, suffix);
}

bool is_there(const OwnDirectory& directory, const std::string& name) {
  return faccessat(directory.descriptor(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

}  // namespace

ExportRendezvous::ExportRendezvous(const std::string& path, const CkptSet& set,
                                   const CkptVersion& version)
    : target_(name_of(path)),
      about_(fmt::format("{} {} {} {} {}", set.name(), version.info.run, version.info.sequence,
                         version.info.number, version.info.ranks)),
      above_(open_directory(directory_of(path))),
      directory_(OwnDirectory::make_below(above_, directory_name(target_, version))) {}

// False: it is not there. Throws if it cannot be one of this version.
bool ExportRendezvous::read(const std::string& name, Json* record) const {
  std::string text;
  if (!directory_.read(name, most_of_rendezvous, &text)) {
    if (!is_there(directory_, name)) return false;
    fail("{}/{}: cannot be read", path(), name);
  }
  *record = Json::parse(text, nullptr, false);
  if (!record->is_object() || record->value("about", Json()) != Json(about_) ||
      record->value("format", Json()) != Json(record_format))
    fail(
        "{}/{}: is damaged, or of another version or release; remove the directory and run the "
        "command on all hosts again",
        path(), name);
  return true;
}

void ExportRendezvous::leave_counts(uint32_t part, const Json& counts) const {
  const Json record = {{"format", record_format}, {"about", about_}, {"counts", counts}};
  static_cast<void>(directory_.write(numbered("counts", part), record.dump(), true));
}

bool ExportRendezvous::has_counts(uint32_t part) const {
  return is_there(directory_, numbered("counts", part));
}

Json ExportRendezvous::counts_of(uint32_t part) const {
  Json record;
  if (!read(numbered("counts", part), &record))
    fail("{}/{}: is gone", path(), numbered("counts", part));
  return record.value("counts", Json::object());
}

std::vector<ExportRendezvous::ExportedFile> ExportRendezvous::read_files(const Json& record) const {
  std::vector<ExportedFile> files;
  try {
    for (const Json& one : record.at("files")) {
      ExportedFile file;
      file.name = one.at("name").get<std::string>();
      file.is_beside = one.at("is_beside").get<bool>();
      file.target = target_ + (file.is_beside ? beside_suffix : "");
      file.bytes = one.at("bytes").get<uint64_t>();
      for (const auto& [variable, offset] : one.at("places").items())
        file.places[variable] = offset.get<uint64_t>();
      if (file.name.find('/') != std::string::npos) fail("{}/{}: is damaged", path(), places_name);
      files.push_back(std::move(file));
    }
  } catch (const Json::exception&) {
    fail("{}/{}: is damaged", path(), places_name);
  }
  // The one that counts is last.
  if (files.empty() || files.size() > 2 || files.back().is_beside)
    fail("{}/{}: is damaged", path(), places_name);
  return files;
}

DataFile ExportRendezvous::open_file(const std::string& name) const {
  return {
      openat(directory_.descriptor(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC),
      path() + "/" + name};
}

bool ExportRendezvous::open_files() {
  Json record;
  if (!read(places_name, &record)) return false;
  std::vector<ExportedFile> files = read_files(record);
  for (ExportedFile& file : files) {
    file.data = open_file(file.name);
    if (file.data.descriptor() < 0 && errno == ENOENT) {
      // Its name was given, by a process that was killed before it removed the directory. One
      // beside gets its name first.
      if (file.is_beside && is_there(directory_, files.back().name)) continue;
      forget_published();
      return false;
    }
    if (file.data.descriptor() < 0)
      throw Error(exit_failed, system_error(path() + "/" + file.name, errno));
    const struct stat st = file.data.status();
    if (!S_ISREG(st.st_mode) || static_cast<uint64_t>(st.st_size) < file.bytes)
      fail("{}/{}: is cut off", path(), file.name);
  }
  files_ = std::move(files);
  return true;
}

void ExportRendezvous::forget_published() const {
  const auto lock = lock_part(UINT32_MAX);
  Json record;
  if (!lock || !read(places_name, &record)) return;
  const std::string name = read_files(record).back().name;
  // Another process may have begun anew meanwhile.
  if (is_there(directory_, name)) return;
  // Only this: a process that does not wait for the lock may be making a file already. Marks of
  // parts name the file that they belong to.
  directory_.remove(places_name);
}

ExportRendezvous::ExportedFile ExportRendezvous::new_file(bool is_beside) const {
  ExportedFile file;
  file.name = "data-" + random_digits() + (is_beside ? ".h5" : "");
  file.target = target_ + (is_beside ? beside_suffix : "");
  file.is_beside = is_beside;
  file.data = DataFile(openat(directory_.descriptor(), file.name.c_str(),
                              O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600),
                       path() + "/" + file.name);
  if (file.data.descriptor() < 0)
    throw Error(exit_failed, system_error(path() + "/" + file.name, errno));
  file.data.open_to_others();
  return file;
}

void ExportRendezvous::offer_files(const std::vector<ExportedFile>& files) const {
  Json record = {{"format", record_format}, {"about", about_}, {"files", Json::array()}};
  for (const ExportedFile& one : files) {
    Json places = Json::object();
    for (const auto& [variable, offset] : one.places) places[variable] = offset;
    record["files"].push_back({{"name", one.name},
                               {"is_beside", one.is_beside},
                               {"bytes", one.bytes},
                               {"places", std::move(places)}});
  }
  if (directory_.write(places_name, record.dump(), false)) return;
  for (const ExportedFile& one : files) directory_.remove(one.name);
}

bool ExportRendezvous::has_part(uint32_t part) const {
  std::string text;
  return directory_.read(numbered("part", part), most_of_mark, &text) && text == files_.back().name;
}

std::vector<uint32_t> ExportRendezvous::missing_parts(uint32_t parts) const {
  const std::vector<std::string> names = directory_.names();
  std::vector<uint32_t> missing;
  // A look at the names first: the last of many hosts reads all marks.
  for (const bool reads : {false, true})
    for (uint32_t i = 0; i < parts && (!reads || missing.empty()); ++i)
      if (reads ? !has_part(i)
                : !std::binary_search(names.begin(), names.end(), numbered("part", i)))
        missing.push_back(i);
  return missing;
}

void ExportRendezvous::mark_part(uint32_t part) const {
  static_cast<void>(directory_.write(numbered("part", part), files_.back().name, true));
}

std::optional<DataFile> ExportRendezvous::lock_part(uint32_t part) const {
  const std::string name = numbered("lock", part);
  // NFS locks exclusively only what is open for writing.
  DataFile file(openat(directory_.descriptor(), name.c_str(),
                       O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600),
                path() + "/" + name);
  if (file.descriptor() < 0) throw Error(exit_failed, system_error(path() + "/" + name, errno));
  // A file system without locks has none: two processes that write a part store the same.
  if (flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return std::nullopt;
  return file;
}

bool ExportRendezvous::is_open() const { return is_there(directory_, files_.back().name); }

bool ExportRendezvous::is_published() const {
  return !files_.empty() && has_name(above_, target_, files_.back().data);
}

// False: it has one already.
bool ExportRendezvous::give_name(const ExportedFile& file, bool may_replace) const {
  const int error = cli::give_name(directory_.descriptor(), file.name, above_.descriptor(),
                                   file.target, may_replace);
  if (error == 0) return true;
  if (error == ENOENT || (error == EEXIST && is_published())) return false;
  const std::string target = above_.path() + "/" + file.target;
  if (error == EEXIST) fail("{}: exists already (--force replaces it)", target);
  throw Error(exit_failed, system_error(target, error));
}

bool ExportRendezvous::publish(bool may_replace) const {
  bool has_named = false;
  for (const ExportedFile& file : files_) has_named = give_name(file, may_replace);
  if (!has_named) return false;
  sync_directory(above_.descriptor(), above_.path());
  try {
    directory_.empty();
    unlinkat(above_.descriptor(), name_of(path()).c_str(), AT_REMOVEDIR);
  } catch (const Error& error) {
    warn(error.what());  // the file is there
  }
  return true;
}

std::vector<std::string> ExportRendezvous::list(const std::string& path) {
  const DataFile above = open_directory(directory_of(path));
  const std::string begin = name_of(path) + ".";
  std::vector<std::string> found;
  // If this user may not list the directory, other users' parts are not found.
  if (faccessat(above.descriptor(), ".", R_OK, AT_EACCESS) != 0) return found;
  for (const std::string& name : names_in(above.descriptor(), above.path()))
    if (name.starts_with(begin) && name.ends_with(suffix))
      found.push_back(above.path() + "/" + name);
  return found;
}

}  // namespace cairn::cli
