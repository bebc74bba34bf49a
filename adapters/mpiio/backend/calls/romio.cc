#include "mpiio/backend/calls/romio.h"

#include <strings.h>

#include <cstdlib>
#include <cstring>

#include "cluster/mpi/session/session.h"
#include "mpiio/backend/calls/calls.h"
#include "mpiio/backend/job/session.h"

namespace mpiio::romio {
namespace {

// The prefixes that ROMIO knows, whether it was built for them or not (fstype_prefix in its
// ad_fstype.c). It takes names with any other prefix as they are, or refuses them in older
// versions.
constexpr const char* file_systems[] = {
    "ufs:",    "nfs:",    "xfs:",  "pvfs2:", "gpfs:",   "panfs:",
    "lustre:", "testfs:", "daos:", "ime:",   "quobyte:"};

size_t prefix_length(const char* filename) {
  for (const char* prefix : file_systems)
    if (strncasecmp(filename, prefix, std::strlen(prefix)) == 0) return std::strlen(prefix);
  return 0;
}

bool opens(const char* name) {
  // A program's handler for errors without a file must not be called for the answer "no".
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_File_get_errhandler(MPI_FILE_NULL, &handler);
  PMPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_File file = MPI_FILE_NULL;
  const int code =
      real::File_open[kPmpi](MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  PMPI_File_set_errhandler(MPI_FILE_NULL, handler);
  PMPI_Errhandler_free(&handler);
  if (code != MPI_SUCCESS) return false;
  real::File_close[kPmpi](&file);
  return true;
}

// Returns true if ROMIO is in use. MPICH has no other I/O. Open MPI has two components, and neither
// its name nor a file's hints say which one is in use: that depends on the command line, the
// environment, parameter files and priorities. So the function opens a name with a prefix, which
// OMPIO does not find. (On Lustre Open MPI may choose ROMIO only for the files there. That is not
// detected, and names are taken as they are.)
bool is_in_force() {
  static const bool is_mpich = std::strstr(host->mpi, "MPICH") != nullptr;
  if (is_mpich) return true;
  // MPI_COMM_SELF, with which to ask, is missing; it may be there later.
  if (!cairn::mpi::has_world()) return false;
  static const bool takes_prefix = opens((std::string("ufs:") + shadow_path).c_str());
  return takes_prefix;
}

}  // namespace

const char* without_file_system(const char* filename) {
  const size_t length = prefix_length(filename);
  return length != 0 && is_in_force() ? filename + length : filename;
}

std::string why_no_shadow(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  real::Error_string[kPmpi](code, text, &length);
  std::string why = std::string("the MPI cannot open ") + shadow_path;
  // ROMIO applies the variable to all files, and refuses file systems that it was not built for.
  if (const char* forced = std::getenv("ROMIO_FSTYPE_FORCE"); forced != nullptr)
    why += std::string(" with ROMIO_FSTYPE_FORCE=") + forced + " (unset it)";
  return why + ": " + text;
}

}  // namespace mpiio::romio
