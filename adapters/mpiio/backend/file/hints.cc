#include "mpiio/backend/file/hints.h"

#include <cstdlib>
#include <cstring>

#include "mpiio/backend/datatype/contents.h"

namespace mpiio {
namespace {

// The value is an octal number of permissions, as hints write it.
bool is_mode(const char* value) {
  char* end = nullptr;
  const unsigned long mode = std::strtoul(value, &end, 8);
  return value[0] >= '0' && value[0] <= '7' && *end == '\0' && mode <= 0777;
}

bool is_visibility(const char* value) {
  return std::strcmp(value, "immediate") == 0 || std::strcmp(value, "sync") == 0;
}

bool is_any(const char*) { return true; }

// A value that says nothing to us is ignored, as a hint without a meaning is, and not read back.
struct Followed {
  const char* key;
  bool (*is_known)(const char* value);
};
constexpr Followed followed[] = {
    {"access_style", is_any}, {"cairn_visibility", is_visibility}, {"file_perm", is_mode}};

}  // namespace

void take_hints(File& file, MPI_Info info) {
  if (info == MPI_INFO_NULL) return;
  for (const Followed& hint : followed) {
    char value[MPI_MAX_INFO_VAL + 1] = {};
    int found = 0;
    PMPI_Info_get(info, hint.key, MPI_MAX_INFO_VAL, value, &found);
    if (found != 0 && hint.is_known(value)) file.hints[hint.key] = value;
  }
}

mode_t file_mode(const File& file) {
  const auto hint = file.hints.find("file_perm");
  return hint == file.hints.end()
             ? 0666
             : static_cast<mode_t>(std::strtoul(hint->second.c_str(), nullptr, 8));
}

bool wants_immediate(const File& file) {
  const auto hint = file.hints.find("cairn_visibility");
  if (hint != file.hints.end()) return hint->second == "immediate";
  const char* standard = std::getenv("CAIRN_MPI_VISIBILITY");
  const bool says = standard != nullptr && std::strcmp(standard, "auto") != 0;
  return says ? std::strcmp(standard, "immediate") == 0 : file.without_sync;
}

void free_types(View& view) {
  for (MPI_Datatype* type : {&view.etype, &view.filetype})
    if (!is_predefined(*type)) PMPI_Type_free(type);
}

}  // namespace mpiio
