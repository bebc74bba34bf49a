#include "mpiio/backend/job/errors.h"

#include <cerrno>
#include <cstring>

#include "cluster/mpi/messages/collectives.h"
#include "mpiio/backend/job/session.h"

namespace mpiio {
namespace {

struct Last {
  int code = MPI_SUCCESS;
  std::string text;
};
thread_local Last last;

}  // namespace

int class_of(int error) {
  switch (error < 0 ? -error : error) {
    case 0:
      return MPI_SUCCESS;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case EBUSY:
    case ETXTBSY:
      return MPI_ERR_FILE_IN_USE;
    case EISDIR:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return MPI_ERR_BAD_FILE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    case EINVAL:
      return MPI_ERR_ARG;
    case EFAULT:
      return MPI_ERR_BUFFER;
    default:
      return MPI_ERR_IO;
  }
}

int error(int error_class, const std::string& text) {
  last = {error_class, text};
  return error_class;
}

int system_error(int error_number, const std::string& what, const std::string& path) {
  const int number = error_number < 0 ? -error_number : error_number;
  return error(class_of(number), path + ": " + what + ": " + std::strerror(number));
}

int agree(MPI_Comm comm, int code) {
  int64_t worst = code;
  cairn::mpi::maximum(session::ranks(comm), &worst, 1, "collecting the results of all ranks");
  if (code != MPI_SUCCESS || worst == MPI_SUCCESS) return code;
  return error(static_cast<int>(worst), "it failed on another rank");
}

const char* text_of(int code) {
  return code != MPI_SUCCESS && last.code == code ? last.text.c_str() : nullptr;
}

}  // namespace mpiio
