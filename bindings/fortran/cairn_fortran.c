/* Decodes Fortran's array descriptors for the module `cairn` (cairn.f90). */
#include "cairn_fortran.h"

#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text of an error that these files find themselves; "": ask the library. */
static _Thread_local char own_text[512];

int cairn_fortran_refuse(int error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(own_text, sizeof own_text, format, arguments);
  va_end(arguments);
  return -error;
}

/* Stores the text of the last error, filled up with blanks. */
void cairn_fortran_error(char* text, size_t size) {
  const char* const from = own_text[0] != 0 ? own_text : cairn_last_error();
  const size_t length = strlen(from);
  memset(text, ' ', size);
  memcpy(text, from, length < size ? length : size);
}

void cairn_fortran_forget_error(void) { own_text[0] = 0; }

void cairn_fortran_finish(const char* call, int result, int* ierr) {
  if (ierr != NULL) {
    *ierr = result < 0 ? result : 0;
  } else if (result < 0) {
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", call, own_text[0] != 0 ? own_text : cairn_last_error());
    exit(EXIT_FAILURE); /* as ERROR STOP */
  }
}

char* cairn_fortran_text(const CFI_cdesc_t* text, size_t number) {
  const char* const from =
      (const char*)text->base_addr + (text->rank == 0 ? 0 : (CFI_index_t)number * text->dim[0].sm);
  size_t length = text->elem_len;
  while (length != 0 && from[length - 1] == ' ') --length;
  char* const made = malloc(length + 1);
  if (made == NULL) return NULL;
  memcpy(made, from, length);
  made[length] = 0;
  return made;
}

/* ---- types ---------------------------------------------------------------------------------- */

static uint32_t by_size(uint32_t first, size_t size) {
  switch (size) {
    case 1:
      return first;
    case 2:
      return first + 1;
    case 4:
      return first + 2;
    case 8:
      return first + 3;
    default:
      return CAIRN_TYPE_OPAQUE;
  }
}

/* Some compilers give equal numbers to several of these names, so a switch cannot tell them. */
static int is_integer(CFI_type_t type) {
  return type == CFI_type_signed_char || type == CFI_type_short || type == CFI_type_int ||
         type == CFI_type_long || type == CFI_type_long_long || type == CFI_type_int8_t ||
         type == CFI_type_int16_t || type == CFI_type_int32_t || type == CFI_type_int64_t ||
         type == CFI_type_size_t || type == CFI_type_intmax_t || type == CFI_type_intptr_t ||
         type == CFI_type_ptrdiff_t;
}

static int is_logical(const CFI_cdesc_t* array) {
  if (array->type == CFI_type_Bool) return 1;
#ifdef CFI_type_Logical /* gfortran: all kinds of logical have a type */
  return (array->type & CFI_type_mask) == CFI_type_Logical;
#else
  return 0;
#endif
}

static uint32_t type_of(const CFI_cdesc_t* array) {
  const CFI_type_t type = array->type;
  if (is_integer(type)) return by_size(CAIRN_TYPE_INT8, array->elem_len);
  if (is_logical(array)) return by_size(CAIRN_TYPE_LOGICAL8, array->elem_len);
  if (type == CFI_type_float) return CAIRN_TYPE_FLOAT32;
  if (type == CFI_type_double) return CAIRN_TYPE_FLOAT64;
  if (type == CFI_type_float_Complex) return CAIRN_TYPE_COMPLEX64;
  if (type == CFI_type_double_Complex) return CAIRN_TYPE_COMPLEX128;
  if (type == CFI_type_long_double)
    return LDBL_MANT_DIG == 64 ? CAIRN_TYPE_FLOAT80 : CAIRN_TYPE_FLOAT128;
  if (type == CFI_type_long_double_Complex)
    return LDBL_MANT_DIG == 64 ? CAIRN_TYPE_COMPLEX_FLOAT80 : CAIRN_TYPE_COMPLEX_FLOAT128;
#ifdef CFI_type_float128
  if (type == CFI_type_float128) return CAIRN_TYPE_FLOAT128;
#endif
#ifdef CFI_type_float128_Complex
  if (type == CFI_type_float128_Complex) return CAIRN_TYPE_COMPLEX_FLOAT128;
#endif
  if (type == CFI_type_char) return CAIRN_TYPE_CHARACTER;
#ifdef CFI_type_ucs4_char
  if (type == CFI_type_ucs4_char) return CAIRN_TYPE_CHARACTER;
#endif
  return CAIRN_TYPE_OPAQUE;
}

/* ---- arrays --------------------------------------------------------------------------------- */

int cairn_fortran_decode(const char* name, const CFI_cdesc_t* from, uint32_t type,
                         cairn_array* to) {
  memset(to, 0, sizeof *to);
  to->struct_size = sizeof *to;
  if (from->base_addr == NULL)
    return cairn_fortran_refuse(EFAULT, "variable '%s': the array is not allocated or associated",
                                name);
  to->type = type != 0 ? type : type_of(from);
  to->element_size = from->elem_len;
  to->dimensions = (uint32_t)from->rank;
  to->base = from->base_addr;
  for (int k = 0; k < from->rank; ++k) {
    const CFI_dim_t* const dimension = &from->dim[from->rank - 1 - k];
    if (dimension->extent < 0)
      return cairn_fortran_refuse(
          EINVAL, "variable '%s': the array has an assumed size; pass a section with all bounds",
          name);
    to->extent[k] = dimension->extent;
    to->stride[k] = dimension->sm;
  }
  return 0;
}

int cairn_fortran_place(const char* name, int rank, const fortran_distribution* from,
                        cairn_distribution* to) {
  memset(to, 0, sizeof *to);
  to->struct_size = sizeof *to;
  to->kind = CAIRN_REPLICATED;
  if (from == NULL || from->dimensions == 0) return 0;
  if (from->dimensions < 0)
    return cairn_fortran_refuse(
        EINVAL, "variable '%s': global and first: expected equal lengths, at most %d", name,
        CAIRN_MAX_DIMENSIONS);
  if (from->dimensions != rank)
    return cairn_fortran_refuse(EINVAL, "variable '%s': the array has rank %d, its distribution %d",
                                name, rank, from->dimensions);
  to->kind = CAIRN_BLOCK;
  to->owner = (uint32_t)from->owner;
  for (int k = 0; k < rank; ++k) {
    const int f = rank - 1 - k;
    to->global[k] = from->global[f];
    to->offset[k] = from->first[f] - 1;
    if (from->halo_low[f] < 0 || from->halo_low[f] > UINT16_MAX || from->halo_high[f] < 0 ||
        from->halo_high[f] > UINT16_MAX)
      return cairn_fortran_refuse(
          EINVAL, "variable '%s': halo of dimension %d: expected 0 to 65535", name, f + 1);
    to->halo_low[k] = (uint16_t)from->halo_low[f];
    to->halo_high[k] = (uint16_t)from->halo_high[f];
    if (from->axis[0] == 0) {
      to->axis[k] = (uint8_t)k;
      continue;
    }
    if (from->axis[f] < 1 || from->axis[f] > rank)
      return cairn_fortran_refuse(EINVAL, "variable '%s': axis %d: expected 1 to %d", name,
                                  from->axis[f], rank);
    to->axis[k] = (uint8_t)(rank - from->axis[f]);
  }
  return 0;
}

/* ---- what the module calls ------------------------------------------------------------------ */

/* `communicator`: an integer or a type(MPI_Comm), which holds one; NULL: no MPI. */
int cairn_fortran_init(const char* name, const CFI_cdesc_t* communicator,
                       const cairn_checkpoint_options* options, cairn_checkpoint** checkpoint) {
  cairn_fortran_forget_error();
  int handle = CAIRN_NO_COMMUNICATOR;
  if (communicator != NULL) {
    if (communicator->rank != 0 || communicator->elem_len != sizeof handle ||
        communicator->base_addr == NULL)
      return cairn_fortran_refuse(
          EINVAL, "checkpoint %s: communicator: expected an integer or a type(MPI_Comm)", name);
    memcpy(&handle, communicator->base_addr, sizeof handle);
  }
  return cairn_checkpoint_init(name, handle, options, checkpoint);
}

/* Texts of Fortran as C has them. */
struct texts {
  char** all;
  size_t count;
};

static void free_texts(struct texts* texts) {
  while (texts->all != NULL && texts->count != 0) free(texts->all[--texts->count]);
  free(texts->all);
}

/* 0: no memory. `array` may be NULL. */
static int make_texts(const CFI_cdesc_t* array, struct texts* texts) {
  const size_t count = array == NULL ? 0 : (size_t)array->dim[0].extent;
  texts->count = 0;
  texts->all = calloc(count + 1, sizeof *texts->all);
  if (texts->all == NULL) return 0;
  for (; texts->count < count; ++texts->count)
    if ((texts->all[texts->count] = cairn_fortran_text(array, texts->count)) == NULL) return 0;
  return 1;
}

/* From 'key=text' each. */
static int make_attributes(const char* name, const struct texts* texts,
                           cairn_attribute* attributes) {
  for (size_t i = 0; i < texts->count; ++i) {
    char* const sign = strchr(texts->all[i], '=');
    if (sign == NULL || sign[1] == 0)
      return cairn_fortran_refuse(EINVAL, "variable '%s': attribute '%s': expected key=text", name,
                                  texts->all[i]);
    *sign = 0;
    attributes[i] = (cairn_attribute){.key = texts->all[i],
                                      .type = CAIRN_TYPE_CHARACTER,
                                      .count = (uint32_t)strlen(sign + 1),
                                      .values = sign + 1};
  }
  return 0;
}

static int define_with(cairn_checkpoint* checkpoint, const char* name, const cairn_array* what,
                       const cairn_distribution* where, cairn_definition* more,
                       const CFI_cdesc_t* aliases, const CFI_cdesc_t* attributes) {
  struct texts names = {NULL, 0};
  struct texts notes = {NULL, 0};
  int result = -ENOMEM;
  cairn_attribute* noted = NULL;
  if (make_texts(aliases, &names) && make_texts(attributes, &notes) &&
      (noted = calloc(notes.count + 1, sizeof *noted)) != NULL) {
    result = make_attributes(name, &notes, noted);
    more->aliases = (const char* const*)names.all;
    more->alias_count = (uint32_t)names.count;
    more->attributes = noted;
    more->attribute_count = (uint32_t)notes.count;
    if (result == 0) result = cairn_checkpoint_define(checkpoint, name, what, where, more);
  } else {
    cairn_fortran_refuse(ENOMEM, "variable '%s': no memory", name);
  }
  free(noted);
  free_texts(&names);
  free_texts(&notes);
  return result;
}

static int define(cairn_checkpoint* checkpoint, const char* name, const CFI_cdesc_t* array,
                  const fortran_distribution* distribution, uint32_t type, uint32_t flags,
                  const CFI_cdesc_t* aliases, const CFI_cdesc_t* default_value,
                  const CFI_cdesc_t* attributes) {
  cairn_array what;
  cairn_distribution where;
  int result = cairn_fortran_decode(name, array, type, &what);
  if (result == 0) result = cairn_fortran_place(name, array->rank, distribution, &where);
  if (result < 0) return result;
  cairn_definition more = {.struct_size = sizeof more, .flags = flags};
  if (default_value != NULL) {
    if (default_value->rank != 0 || default_value->type != array->type ||
        default_value->elem_len != array->elem_len)
      return cairn_fortran_refuse(
          EINVAL, "variable '%s': default: expected a scalar of the array's type", name);
    more.default_value = default_value->base_addr;
  }
  return define_with(checkpoint, name, &what, &where, &more, aliases, attributes);
}

/* What is optional in Fortran is NULL here. */
void cairn_fortran_define(const fortran_checkpoint* checkpoint, const CFI_cdesc_t* name,
                          const CFI_cdesc_t* array, const fortran_distribution* distribution,
                          const int* type, const int* flags, const CFI_cdesc_t* aliases,
                          const CFI_cdesc_t* default_value, const CFI_cdesc_t* attributes,
                          int* ierr) {
  cairn_fortran_forget_error();
  char* const text = cairn_fortran_text(name, 0);
  const int result = text == NULL ? cairn_fortran_refuse(ENOMEM, "no memory")
                                  : define(checkpoint->handle, text, array, distribution,
                                           type == NULL ? 0 : (uint32_t)*type,
                                           flags == NULL ? 0 : (uint32_t)*flags, aliases,
                                           default_value, attributes);
  free(text);
  cairn_fortran_finish("cairn_define", result, ierr);
}

static int read_var(cairn_checkpoint* checkpoint, const char* name, const CFI_cdesc_t* array,
                    int64_t version, const CFI_cdesc_t* first, uint32_t type) {
  cairn_array what;
  const int result = cairn_fortran_decode(name, array, type, &what);
  if (result < 0) return result;
  if (first == NULL) return cairn_checkpoint_read_var(checkpoint, version, name, NULL, NULL, &what);
  const CFI_index_t count = first->dim[0].extent;
  if (count != array->rank)
    return cairn_fortran_refuse(EINVAL, "variable '%s': the array has rank %d, first %ld elements",
                                name, array->rank, (long)count);
  int64_t offset[CAIRN_MAX_DIMENSIONS];
  for (CFI_index_t k = 0; k < count; ++k) {
    int from = 0;
    memcpy(&from, (const char*)first->base_addr + (count - 1 - k) * first->dim[0].sm, sizeof from);
    offset[k] = (int64_t)from - 1;
  }
  return cairn_checkpoint_read_var(checkpoint, version, name, offset, what.extent, &what);
}

void cairn_fortran_read_var(const fortran_checkpoint* checkpoint, const CFI_cdesc_t* name,
                            const CFI_cdesc_t* array, const int64_t* version,
                            const CFI_cdesc_t* first, const int* type, int* ierr) {
  cairn_fortran_forget_error();
  char* const text = cairn_fortran_text(name, 0);
  const int result = text == NULL ? cairn_fortran_refuse(ENOMEM, "no memory")
                                  : read_var(checkpoint->handle, text, array,
                                             version == NULL ? CAIRN_CHECKPOINT_LATEST : *version,
                                             first, type == NULL ? 0 : (uint32_t)*type);
  free(text);
  cairn_fortran_finish("cairn_read_var", result, ierr);
}

struct search {
  const char* name;
  int64_t* extents;
  int32_t room;
  int32_t rank; /* -1: not found */
};

static int look(void* context, const cairn_checkpoint_variable* variable) {
  struct search* const search = context;
  if (strcmp(variable->name, search->name) != 0) return 0;
  search->rank = (int32_t)variable->dimensions;
  for (int32_t k = 0; k < search->rank && k < search->room; ++k)
    search->extents[k] = variable->global[search->rank - 1 - k];
  return 1;
}

/* Stores the extents of a stored array in the order of Fortran; its rank. */
int cairn_fortran_shape(cairn_checkpoint* checkpoint, int64_t version, const char* name,
                        int64_t* extents, int32_t room) {
  cairn_fortran_forget_error();
  struct search search = {name, extents, room, -1};
  const int result = cairn_checkpoint_variables(checkpoint, version, look, &search);
  if (result < 0) return result;
  if (search.rank < 0)
    return cairn_fortran_refuse(ENOENT, "variable '%s': the version has none of this name", name);
  return search.rank;
}

/* Fortran's structure may end before C's. */
struct listing {
  char* to;
  size_t size; /* of one */
  int32_t room;
  int32_t count;
};

static int note(void* context, const cairn_checkpoint_info* info) {
  struct listing* const listing = context;
  const size_t size = listing->size < sizeof *info ? listing->size : sizeof *info;
  if (listing->count < listing->room)
    memcpy(listing->to + (size_t)listing->count * listing->size, info, size);
  ++listing->count;
  return 0;
}

/* Stores up to `room` versions of `size` bytes each, newest first; how many there are. */
int cairn_fortran_list(cairn_checkpoint* checkpoint, void* to, size_t size, int32_t room) {
  cairn_fortran_forget_error();
  struct listing listing = {to, size, room, 0};
  const int result = cairn_checkpoint_list(checkpoint, note, &listing);
  return result < 0 ? result : listing.count;
}
