/* PALM's calls (cairn_palm.f90): the grid, and which arrays are defined. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cairn_fortran.h"

enum { dt_replicated = 1, dt_block = 2 };

struct variable {
  char* name;
  uint64_t fingerprint;
  int is_given; /* since checkpoint_begin_write */
};

static struct {
  cairn_checkpoint* checkpoint;
  int64_t version; /* that is read or written */
  int has_grid;
  int64_t global[2]; /* points of the grid, by i and j */
  int64_t first[2];  /* of this rank's, from 1 */
  int64_t local[2];
  int32_t ghosts;
  struct variable* defined;
  size_t count;
} palm;

static void forget(void) {
  for (size_t i = 0; i < palm.count; ++i) free(palm.defined[i].name);
  free(palm.defined);
  palm.defined = NULL;
  palm.count = 0;
}

void cairn_palm_open(const fortran_checkpoint* checkpoint) {
  forget();
  palm.checkpoint = checkpoint->handle;
  palm.has_grid = 0;
}

void cairn_palm_grid(const int* nx, const int* ny, const int* nxl, const int* nxr, const int* nys,
                     const int* nyn, const int* nbgp, int* ierr) {
  cairn_fortran_forget_error();
  int result = 0;
  if (*nxl < 0 || *nxr > *nx || *nys < 0 || *nyn > *ny || *nxl > *nxr + 1 || *nys > *nyn + 1 ||
      (nbgp != NULL && *nbgp < 0)) {
    result = cairn_fortran_refuse(EINVAL, "grid: %d:%d, %d:%d lies outside of 0:%d, 0:%d", *nxl,
                                  *nxr, *nys, *nyn, *nx, *ny);
  } else {
    palm.global[0] = (int64_t)*nx + 1;
    palm.global[1] = (int64_t)*ny + 1;
    palm.first[0] = (int64_t)*nxl + 1;
    palm.first[1] = (int64_t)*nys + 1;
    palm.local[0] = (int64_t)*nxr - *nxl + 1;
    palm.local[1] = (int64_t)*nyn - *nys + 1;
    palm.ghosts = nbgp == NULL ? 0 : *nbgp;
    palm.has_grid = 1;
  }
  cairn_fortran_finish("checkpoint_grid", result, ierr);
}

/* The array is (..., k, j, i), the global array (i, j, k, ...). */
static int block(const char* name, const CFI_cdesc_t* array, fortran_box* to) {
  const int n = array->rank;
  if (!palm.has_grid)
    return cairn_fortran_refuse(EINVAL, "variable '%s': dt_block: call checkpoint_grid first",
                                name);
  if (n < 2)
    return cairn_fortran_refuse(
        EINVAL, "variable '%s': dt_block: expected an array whose last dimensions are (j, i)",
        name);
  to->dimensions = n;
  for (int g = 0; g < n; ++g) {
    const int a = n - 1 - g; /* the array's dimension */
    const int64_t extent = array->dim[a].extent;
    to->axis[a] = g + 1;
    to->global[g] = extent;
    to->first[g] = 1;
    if (g > 1) continue;
    to->global[g] = palm.global[g];
    to->first[g] = palm.first[g];
    if (extent == palm.local[g]) continue;
    to->halo_low[a] = to->halo_high[a] = palm.ghosts;
    if (extent != palm.local[g] + 2 * (int64_t)palm.ghosts)
      return cairn_fortran_refuse(
          EINVAL,
          "variable '%s': dt_block: extent in %s: %lld; this rank has %lld points, %d ghosts", name,
          g == 0 ? "i" : "j", (long long)extent, (long long)palm.local[g], palm.ghosts);
  }
  return 0;
}

/* Where the array lies, and its form for the library. */
static int place(const char* name, const CFI_cdesc_t* array, int distribution, cairn_array* what,
                 cairn_distribution* where) {
  memset(where, 0, sizeof *where);
  fortran_box box;
  memset(&box, 0, sizeof box);
  if (distribution != dt_replicated && distribution != dt_block)
    return cairn_fortran_refuse(EINVAL, "variable '%s': expected dt_replicated or dt_block", name);
  int result = cairn_fortran_decode(name, array, 0, what);
  if (result == 0 && distribution == dt_block) result = block(name, array, &box);
  return result < 0 ? result : cairn_fortran_place(name, array->rank, &box, where);
}

/* Equal numbers: the same memory, shape, type and distribution (FNV-1a). */
static uint64_t fingerprint_of(const cairn_array* what, const cairn_distribution* where) {
  uint64_t sum = 14695981039346656037U;
  const unsigned char* bytes = (const unsigned char*)what;
  for (size_t i = 0; i < sizeof *what; ++i) sum = (sum ^ bytes[i]) * 1099511628211U;
  bytes = (const unsigned char*)where;
  for (size_t i = 0; i < sizeof *where; ++i) sum = (sum ^ bytes[i]) * 1099511628211U;
  return sum;
}

/* NULL: no memory. */
static struct variable* find_or_add(const char* name) {
  for (size_t i = 0; i < palm.count; ++i)
    if (strcmp(palm.defined[i].name, name) == 0) return &palm.defined[i];
  struct variable* const more = realloc(palm.defined, (palm.count + 1) * sizeof *more);
  if (more == NULL) return NULL;
  palm.defined = more;
  char* const copy = malloc(strlen(name) + 1);
  if (copy == NULL) return NULL;
  strcpy(copy, name);
  more[palm.count] = (struct variable){copy, 0, 0};
  return &more[palm.count++];
}

/* Defines the array, unless it is already defined just so: ranks compare definitions anew after
 * each change. */
static int define(const char* name, const CFI_cdesc_t* array, int distribution, int is_given) {
  cairn_array what;
  cairn_distribution where;
  int result = place(name, array, distribution, &what, &where);
  if (result < 0) return result;
  const uint64_t fingerprint = fingerprint_of(&what, &where);
  for (size_t i = 0; i < palm.count; ++i) {
    if (strcmp(palm.defined[i].name, name) != 0 || palm.defined[i].fingerprint != fingerprint)
      continue;
    palm.defined[i].is_given |= is_given;
    return 0;
  }
  result = cairn_checkpoint_define(palm.checkpoint, name, &what, &where, NULL);
  if (result < 0) return result;
  struct variable* const variable = find_or_add(name);
  if (variable == NULL) return cairn_fortran_refuse(ENOMEM, "variable '%s': no memory", name);
  variable->fingerprint = fingerprint;
  variable->is_given |= is_given;
  return 0;
}

static int read_one(const char* name, const CFI_cdesc_t* array, int distribution) {
  cairn_array what;
  cairn_distribution where;
  int result = place(name, array, distribution, &what, &where);
  if (result == 0) result = cairn_checkpoint_define(palm.checkpoint, name, &what, &where, NULL);
  if (result < 0) return result;
  result = cairn_checkpoint_read(palm.checkpoint, palm.version, CAIRN_READ_HALO, NULL);
  if (result == 0) return cairn_checkpoint_undefine(palm.checkpoint, name);
  /* The text stays that of the error. */
  cairn_fortran_refuse(-result, "%s", cairn_last_error());
  cairn_checkpoint_undefine(palm.checkpoint, name);
  return result;
}

static void with_name(const char* call, const CFI_cdesc_t* name, const CFI_cdesc_t* array,
                      int distribution, int* ierr) {
  cairn_fortran_forget_error();
  char* const text = cairn_fortran_text(name, 0);
  int result = 0;
  if (text == NULL)
    result = cairn_fortran_refuse(ENOMEM, "no memory");
  else if (strcmp(call, "checkpoint_read") == 0)
    result = read_one(text, array, distribution);
  else
    result = define(text, array, distribution, strcmp(call, "checkpoint_write") == 0);
  free(text);
  cairn_fortran_finish(call, result, ierr);
}

void cairn_palm_define(const CFI_cdesc_t* name, const CFI_cdesc_t* array, const int* distribution,
                       int* ierr) {
  with_name("checkpoint_define", name, array, *distribution, ierr);
}

void cairn_palm_write(const CFI_cdesc_t* name, const CFI_cdesc_t* array, const int* distribution,
                      int* ierr) {
  with_name("checkpoint_write", name, array, *distribution, ierr);
}

void cairn_palm_read(const CFI_cdesc_t* name, const CFI_cdesc_t* array, const int* distribution,
                     int* ierr) {
  with_name("checkpoint_read", name, array, *distribution, ierr);
}

void cairn_palm_begin_write(const int* step, int* ierr) {
  cairn_fortran_forget_error();
  palm.version = *step;
  for (size_t i = 0; i < palm.count; ++i) palm.defined[i].is_given = 0;
  cairn_fortran_finish("checkpoint_begin_write", 0, ierr);
}

/* Undefines what this version does not have. */
static int drop_others(int are_all_dropped) {
  size_t kept = 0;
  int result = 0;
  for (size_t i = 0; i < palm.count; ++i) {
    struct variable* const one = &palm.defined[i];
    if (one->is_given && !are_all_dropped) {
      palm.defined[kept++] = *one;
      continue;
    }
    const int undefined = cairn_checkpoint_undefine(palm.checkpoint, one->name);
    if (result == 0) result = undefined;
    free(one->name);
  }
  palm.count = kept;
  return result;
}

void cairn_palm_end_write(int* ierr) {
  cairn_fortran_forget_error();
  int result = drop_others(0);
  if (result == 0) result = cairn_checkpoint_write(palm.checkpoint, palm.version);
  cairn_fortran_finish("checkpoint_end_write", result, ierr);
}

void cairn_palm_begin_read(int* is_found, int64_t* step, int* ierr) {
  cairn_fortran_forget_error();
  cairn_checkpoint_info info = {.struct_size = sizeof info};
  *is_found = 0;
  *step = 0; /* an intent(out) argument has no value before */
  int result = drop_others(1);
  if (result == 0)
    result = cairn_checkpoint_restart_test(palm.checkpoint, CAIRN_CHECKPOINT_LATEST, &info);
  /* Each array is read by itself later, when it is too late for another version. */
  if (result == 1) {
    result = cairn_checkpoint_read(palm.checkpoint, CAIRN_CHECKPOINT_LATEST, CAIRN_READ_VERIFY_ALL,
                                   &info);
    *is_found = result == 0;
  }
  if (*is_found) *step = palm.version = info.number;
  cairn_fortran_finish("checkpoint_begin_read", result, ierr);
}
