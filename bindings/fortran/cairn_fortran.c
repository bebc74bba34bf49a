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

/* type(cairn_distribution); dimensions in the order of Fortran. */
typedef struct {
  int32_t dimensions; /* 0: replicated, or of a kind without a global array; -1: wrong lengths */
  int32_t owner;
  int64_t global[CAIRN_MAX_DIMENSIONS];
  int64_t first[CAIRN_MAX_DIMENSIONS]; /* from 1 */
  int32_t halo_low[CAIRN_MAX_DIMENSIONS];
  int32_t halo_high[CAIRN_MAX_DIMENSIONS];
  int32_t axis[CAIRN_MAX_DIMENSIONS]; /* from 1; all 0: the same */
  int32_t kind;                       /* enum cairn_distribution_kind; 0: by `dimensions` */
  char over[256];
  char key[256];
  int32_t by_columns; /* of a darray's processes */
  int32_t processes[CAIRN_MAX_DIMENSIONS];
  int32_t distribute[CAIRN_MAX_DIMENSIONS];
  int64_t block[CAIRN_MAX_DIMENSIONS];
} fortran_distribution;

static int translate(const char* name, int rank, const fortran_distribution* from,
                     cairn_distribution* to) {
  memset(to, 0, sizeof *to);
  to->struct_size = sizeof *to;
  to->kind = CAIRN_REPLICATED;
  if (from != NULL && from->kind != 0 && from->dimensions == 0) {
    to->kind = (uint32_t)from->kind;
    to->over = from->over[0] == 0 ? NULL : from->over;
    to->key = from->key[0] == 0 ? NULL : from->key;
    return 0;
  }
  if (from == NULL || from->dimensions == 0) return 0;
  if (from->dimensions < 0)
    return cairn_fortran_refuse(
        EINVAL, "variable '%s': %s: expected equal lengths, at most %d", name,
        from->kind == CAIRN_DARRAY ? "global, processes, block and distribute" : "global and first",
        CAIRN_MAX_DIMENSIONS);
  if (from->dimensions != rank)
    return cairn_fortran_refuse(EINVAL, "variable '%s': the array has rank %d, its distribution %d",
                                name, rank, from->dimensions);
  to->kind = from->kind == 0 ? CAIRN_BLOCK : (uint32_t)from->kind;
  to->owner = (uint32_t)from->owner;
  /* C counts dimensions the other way: its last one is the first in Fortran. */
  if (from->kind == CAIRN_DARRAY && !from->by_columns) to->rank_order = CAIRN_RANKS_FORTRAN;
  for (int k = 0; k < rank; ++k) {
    const int f = rank - 1 - k;
    to->global[k] = from->global[f];
    to->processes[k] = (uint32_t)from->processes[f];
    to->distribute[k] = (uint32_t)from->distribute[f];
    to->block[k] = from->block[f];
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

int cairn_fortran_place(const char* name, int rank, const fortran_box* from,
                        cairn_distribution* to) {
  fortran_distribution box;
  memset(&box, 0, sizeof box);
  box.dimensions = from->dimensions;
  memcpy(box.global, from->global, sizeof box.global);
  memcpy(box.first, from->first, sizeof box.first);
  memcpy(box.halo_low, from->halo_low, sizeof box.halo_low);
  memcpy(box.halo_high, from->halo_high, sizeof box.halo_high);
  memcpy(box.axis, from->axis, sizeof box.axis);
  return translate(name, rank, &box, to);
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
static int make_attributes(const char* of, const struct texts* texts, cairn_attribute* attributes) {
  for (size_t i = 0; i < texts->count; ++i) {
    char* const sign = strchr(texts->all[i], '=');
    if (sign == NULL)
      return cairn_fortran_refuse(EINVAL, "%s: attribute '%s': expected key=text", of,
                                  texts->all[i]);
    *sign = 0;
    attributes[i] = (cairn_attribute){.key = texts->all[i],
                                      .type = CAIRN_TYPE_CHARACTER,
                                      .count = (uint32_t)strlen(sign + 1),
                                      .values = sign + 1};
  }
  return 0;
}

/* cairn_checkpoint_define, or write_var. */
typedef int (*define_call)(cairn_checkpoint*, const char*, const cairn_array*,
                           const cairn_distribution*, const cairn_definition*);

static int define_with(define_call call, cairn_checkpoint* checkpoint, const char* name,
                       const cairn_array* what, const cairn_distribution* where,
                       cairn_definition* more, const CFI_cdesc_t* aliases,
                       const CFI_cdesc_t* attributes) {
  struct texts names = {NULL, 0};
  struct texts notes = {NULL, 0};
  int result = -ENOMEM;
  cairn_attribute* noted = NULL;
  if (make_texts(aliases, &names) && make_texts(attributes, &notes) &&
      (noted = calloc(notes.count + 1, sizeof *noted)) != NULL) {
    char of[300];
    snprintf(of, sizeof of, "variable '%s'", name);
    result = make_attributes(of, &notes, noted);
    more->aliases = (const char* const*)names.all;
    more->alias_count = (uint32_t)names.count;
    more->attributes = noted;
    more->attribute_count = (uint32_t)notes.count;
    if (result == 0) result = call(checkpoint, name, what, where, more);
  } else {
    cairn_fortran_refuse(ENOMEM, "variable '%s': no memory", name);
  }
  free(noted);
  free_texts(&names);
  free_texts(&notes);
  return result;
}

/* type(cairn_place) */
typedef struct {
  cairn_array* array;
  int error;
} fortran_place;
typedef void (*fortran_getter)(int64_t count, fortran_place* place);

/* What a variable has besides its array; what is optional in Fortran is NULL. */
struct further {
  fortran_getter getter;
  const fortran_distribution* distribution;
  uint32_t type;
  uint32_t flags;
  const CFI_cdesc_t* aliases;
  const CFI_cdesc_t* default_value;
  const CFI_cdesc_t* attributes;
};

static uint32_t number_or_0(const int* number) { return number == NULL ? 0 : (uint32_t)*number; }

/* Fortran's arrays are asked for by this; `array` comes as it was defined. */
static int ask(void* context, int purpose, cairn_array* array) {
  cairn_array found = *array;
  found.base = NULL;
  fortran_place place = {&found, 0};
  fortran_getter getter;
  memcpy(&getter, &context, sizeof getter);
  getter(purpose == CAIRN_ARRAY_TO_FILL ? array->extent[0] : -1, &place);
  if (place.error != 0) return place.error;
  if (found.element_size != array->element_size || found.dimensions != array->dimensions)
    return -EINVAL;
  array->base = found.base;
  memcpy(array->extent, found.extent, sizeof array->extent);
  memcpy(array->stride, found.stride, sizeof array->stride);
  return 0;
}

/* In a getter. */
void cairn_fortran_at(fortran_place* place, const CFI_cdesc_t* array) {
  place->error = cairn_fortran_decode("of a getter", array, 0, place->array);
}

static int define(define_call call, cairn_checkpoint* checkpoint, const char* name,
                  const cairn_array* what, const struct further* further) {
  cairn_distribution where;
  const int result = translate(name, (int)what->dimensions, further->distribution, &where);
  if (result < 0) return result;
  cairn_definition more = {.struct_size = sizeof more, .flags = further->flags};
  if (further->getter != NULL) {
    more.getter = ask;
    memcpy(&more.context, &further->getter, sizeof more.context);
  }
  const CFI_cdesc_t* const value = further->default_value;
  if (value != NULL) {
    const int is_same =
        value->elem_len == what->element_size &&
        (further->type != 0 || (value->base_addr != NULL && type_of(value) == what->type));
    if (value->rank != 0 || !is_same)
      return cairn_fortran_refuse(
          EINVAL, "variable '%s': default: expected a scalar of the array's type", name);
    more.default_value = value->base_addr;
  }
  return define_with(call, checkpoint, name, what, &where, &more, further->aliases,
                     further->attributes);
}

static int define_array(define_call call, cairn_checkpoint* checkpoint, const char* name,
                        const CFI_cdesc_t* array, const struct further* further) {
  cairn_array what;
  const int result = cairn_fortran_decode(name, array, further->type, &what);
  return result < 0 ? result : define(call, checkpoint, name, &what, further);
}

/* The getter says what the array is like. */
static int define_by(cairn_checkpoint* checkpoint, const char* name,
                     const struct further* further) {
  cairn_array what;
  memset(&what, 0, sizeof what);
  fortran_place place = {&what, -EFAULT};
  further->getter(-1, &place);
  if (place.error == -EFAULT)
    return cairn_fortran_refuse(
        EFAULT, "variable '%s': its getter names no array that is allocated or associated", name);
  if (place.error != 0) return place.error;
  if (further->type != 0) what.type = further->type;
  return define(cairn_checkpoint_define, checkpoint, name, &what, further);
}

/* What is optional in Fortran is NULL here. */
void cairn_fortran_define(const fortran_checkpoint* checkpoint, const CFI_cdesc_t* name,
                          const CFI_cdesc_t* array, const fortran_distribution* distribution,
                          const int* type, const int* flags, const CFI_cdesc_t* aliases,
                          const CFI_cdesc_t* default_value, const CFI_cdesc_t* attributes,
                          int* ierr) {
  cairn_fortran_forget_error();
  const struct further further = {NULL,    distribution,  number_or_0(type), number_or_0(flags),
                                  aliases, default_value, attributes};
  char* const text = cairn_fortran_text(name, 0);
  const int result = text == NULL ? cairn_fortran_refuse(ENOMEM, "no memory")
                                  : define_array(cairn_checkpoint_define, checkpoint->handle, text,
                                                 array, &further);
  free(text);
  cairn_fortran_finish("cairn_define", result, ierr);
}

void cairn_fortran_define_by(const fortran_checkpoint* checkpoint, const CFI_cdesc_t* name,
                             fortran_getter getter, const fortran_distribution* distribution,
                             const int* type, const int* flags, const CFI_cdesc_t* aliases,
                             const CFI_cdesc_t* default_value, const CFI_cdesc_t* attributes,
                             int* ierr) {
  cairn_fortran_forget_error();
  const struct further further = {getter,  distribution,  number_or_0(type), number_or_0(flags),
                                  aliases, default_value, attributes};
  char* const text = cairn_fortran_text(name, 0);
  const int result = text == NULL ? cairn_fortran_refuse(ENOMEM, "no memory")
                                  : define_by(checkpoint->handle, text, &further);
  free(text);
  cairn_fortran_finish("cairn_define_by", result, ierr);
}

void cairn_fortran_write_var(const fortran_checkpoint* checkpoint, const CFI_cdesc_t* name,
                             const CFI_cdesc_t* array, const fortran_distribution* distribution,
                             const int* type, const CFI_cdesc_t* attributes, int* ierr) {
  cairn_fortran_forget_error();
  const struct further further = {NULL, distribution, number_or_0(type), 0, NULL, NULL, attributes};
  char* const text = cairn_fortran_text(name, 0);
  const int result = text == NULL ? cairn_fortran_refuse(ENOMEM, "no memory")
                                  : define_array(cairn_checkpoint_write_var, checkpoint->handle,
                                                 text, array, &further);
  free(text);
  cairn_fortran_finish("cairn_write_var", result, ierr);
}

void cairn_fortran_set_attributes(const fortran_checkpoint* checkpoint,
                                  const CFI_cdesc_t* attributes, int* ierr) {
  cairn_fortran_forget_error();
  struct texts notes = {NULL, 0};
  cairn_attribute* noted = NULL;
  int result = -ENOMEM;
  if (make_texts(attributes, &notes) && (noted = calloc(notes.count + 1, sizeof *noted)) != NULL) {
    result = make_attributes("the version", &notes, noted);
    if (result == 0)
      result = cairn_checkpoint_set_attributes(checkpoint->handle, noted, (uint32_t)notes.count);
  } else {
    cairn_fortran_refuse(ENOMEM, "attributes: no memory");
  }
  free(noted);
  free_texts(&notes);
  cairn_fortran_finish("cairn_set_attributes", result, ierr);
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

typedef void (*fortran_observer)(int64_t version, int32_t level, int32_t error);

static void tell(void* context, cairn_checkpoint_handle handle, int64_t version,
                 const cairn_checkpoint_progress* progress) {
  (void)handle;
  fortran_observer observer;
  memcpy(&observer, &context, sizeof observer);
  observer(version, (int32_t)progress->level, progress->error);
}

/* NULL: none. */
int cairn_fortran_observe(cairn_checkpoint* checkpoint, fortran_observer observer) {
  void* context;
  memcpy(&context, &observer, sizeof context);
  return cairn_checkpoint_observe(checkpoint, observer == NULL ? NULL : tell, context);
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
