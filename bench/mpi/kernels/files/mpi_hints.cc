#include "files/mpi_hints.h"

namespace kernels {

MPI_Info make_info(const Hints& hints) {
  MPI_Info info = MPI_INFO_NULL;
  if (!hints.empty()) MPI_Info_create(&info);
  for (const auto& [key, value] : hints) MPI_Info_set(info, key.c_str(), value.c_str());
  return info;
}

void free_info(MPI_Info* info) {
  if (*info != MPI_INFO_NULL) MPI_Info_free(info);
}

Hints hints_of(MPI_File file) {
  Hints found;
  MPI_Info info = MPI_INFO_NULL;
  if (MPI_File_get_info(file, &info) != MPI_SUCCESS || info == MPI_INFO_NULL) return found;
  int keys = 0;
  MPI_Info_get_nkeys(info, &keys);
  for (int i = 0; i < keys; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "";
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    MPI_Info_get_nthkey(info, i, key);
    MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    if (there != 0) found[key] = value;
  }
  MPI_Info_free(&info);
  return found;
}

}  // namespace kernels
