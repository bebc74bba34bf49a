/* What the C sources of Fortran's modules share.
 *
 * Descriptors differ between compilers: compile these sources with the C compiler that belongs to
 * your Fortran compiler. libcairn itself knows no Fortran. A Fortran array of (n1, n2, n3) elements
 * is the array [n3][n2][n1] of C: dimensions come in reverse order, the slowest first.
 *
 * Procedures that take an array of the program are C functions. gfortran hands other procedures a
 * copy of an array that is a component of structures, and the copy is gone when they return. */
#ifndef CAIRN_FORTRAN_H
#define CAIRN_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <cairn/checkpoint.h>
#include <stddef.h>
#include <stdint.h>

/* type(cairn_checkpoint) */
typedef struct {
  cairn_checkpoint* handle;
} fortran_checkpoint;

/* A box of a global array; dimensions in the order of Fortran. */
typedef struct {
  int32_t dimensions; /* 0: replicated */
  int64_t global[CAIRN_MAX_DIMENSIONS];
  int64_t first[CAIRN_MAX_DIMENSIONS]; /* from 1 */
  int32_t halo_low[CAIRN_MAX_DIMENSIONS];
  int32_t halo_high[CAIRN_MAX_DIMENSIONS];
  int32_t axis[CAIRN_MAX_DIMENSIONS]; /* from 1; all 0: the same */
} fortran_box;

/* Notes an error that the library does not know of; its negative number. */
int cairn_fortran_refuse(int error, const char* format, ...);
/* Each call begins with this, so that cairn_error_text() is of the last one. */
void cairn_fortran_forget_error(void);
/* Stores the result, or ends the program if it is an error and ierr is NULL. */
void cairn_fortran_finish(const char* call, int result, int* ierr);

/* A text of Fortran, or that of this number, without blanks behind it; NULL: no memory. To free. */
char* cairn_fortran_text(const CFI_cdesc_t* text, size_t number);

int cairn_fortran_decode(const char* name, const CFI_cdesc_t* from, uint32_t type, cairn_array* to);
int cairn_fortran_place(const char* name, int rank, const fortran_box* from,
                        cairn_distribution* to);

#endif /* CAIRN_FORTRAN_H */
