// The standard's own ABI (MPI 5.0, chapter "Application Binary Interface"; version 1.0 of the ABI):
// the part of its mpi.h that the back end uses. It is the same for every MPI that has a
// libmpi_abi.so, so the back end for it is built without an MPI. tests/slow/mpi_versions_test.py
// compares it with the header of an MPI (drafts before the end of 2025 had other values).
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION 5
#define MPI_SUBVERSION 0
#define MPI_ABI_VERSION 1
#define MPI_ABI_SUBVERSION 0

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct {
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
  int MPI_internal[5];
} MPI_Status;

// Handles are opaque pointers; predefined ones are small numbers.
typedef struct MPI_ABI_Op* MPI_Op;
typedef struct MPI_ABI_Comm* MPI_Comm;
typedef struct MPI_ABI_Group* MPI_Group;
typedef struct MPI_ABI_File* MPI_File;
typedef struct MPI_ABI_Info* MPI_Info;
typedef struct MPI_ABI_Errhandler* MPI_Errhandler;
typedef struct MPI_ABI_Message* MPI_Message;
typedef struct MPI_ABI_Request* MPI_Request;
typedef struct MPI_ABI_Datatype* MPI_Datatype;

#define MPI_SUM ((MPI_Op)0x21)
#define MPI_MIN ((MPI_Op)0x22)
#define MPI_MAX ((MPI_Op)0x23)
#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_GROUP_NULL ((MPI_Group)0x108)
#define MPI_FILE_NULL ((MPI_File)0x118)
#define MPI_MESSAGE_NULL ((MPI_Message)0x128)
#define MPI_INFO_NULL ((MPI_Info)0x130)
#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0x140)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x143)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)

#define MPI_DATATYPE_NULL ((MPI_Datatype)0x200)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_LONG ((MPI_Datatype)0x20a)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x20e)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x212)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype)0x213)
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x216)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype)0x217)
#define MPI_COMPLEX ((MPI_Datatype)0x21b)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x21d)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x220)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x224)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x225)
#define MPI_FLOAT_INT ((MPI_Datatype)0x228)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x229)
#define MPI_LONG_INT ((MPI_Datatype)0x22a)
#define MPI_2INT ((MPI_Datatype)0x22b)
#define MPI_SHORT_INT ((MPI_Datatype)0x22c)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x22d)
#define MPI_2REAL ((MPI_Datatype)0x230)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x231)
#define MPI_2INTEGER ((MPI_Datatype)0x232)
#define MPI_WCHAR ((MPI_Datatype)0x23c)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_INT64_T ((MPI_Datatype)0x258)
#define MPI_COMPLEX4 ((MPI_Datatype)0x2d3)
#define MPI_COMPLEX8 ((MPI_Datatype)0x2db)
#define MPI_COMPLEX16 ((MPI_Datatype)0x2e3)
#define MPI_COMPLEX32 ((MPI_Datatype)0x2eb)

enum {
  MPI_SUCCESS = 0,
  MPI_ERR_BUFFER = 1,
  MPI_ERR_COUNT = 2,
  MPI_ERR_TYPE = 3,
  MPI_ERR_COMM = 5,
  MPI_ERR_ARG = 13,
  MPI_ERR_OTHER = 16,
  MPI_ERR_ACCESS = 20,
  MPI_ERR_AMODE = 21,
  MPI_ERR_BAD_FILE = 23,
  MPI_ERR_CONVERSION = 25,
  MPI_ERR_DUP_DATAREP = 27,
  MPI_ERR_FILE_EXISTS = 28,
  MPI_ERR_FILE_IN_USE = 29,
  MPI_ERR_FILE = 30,
  MPI_ERR_IO = 35,
  MPI_ERR_NO_MEM = 39,
  MPI_ERR_NOT_SAME = 40,
  MPI_ERR_NO_SPACE = 41,
  MPI_ERR_NO_SUCH_FILE = 42,
  MPI_ERR_QUOTA = 44,
  MPI_ERR_READ_ONLY = 45,
  MPI_ERR_UNSUPPORTED_DATAREP = 54,
  MPI_ERR_UNSUPPORTED_OPERATION = 55
};

#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_MAX_DATAREP_STRING 128
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_INFO_VAL 1024
#define MPI_DISPLACEMENT_CURRENT ((MPI_Offset)-1)

enum {
  MPI_MODE_APPEND = 1,
  MPI_MODE_CREATE = 2,
  MPI_MODE_DELETE_ON_CLOSE = 4,
  MPI_MODE_EXCL = 8,
  MPI_MODE_RDONLY = 16,
  MPI_MODE_RDWR = 32,
  MPI_MODE_SEQUENTIAL = 64,
  MPI_MODE_WRONLY = 256
};

enum { MPI_ANY_SOURCE = -1, MPI_TAG_UB = 501 };

enum { MPI_THREAD_SINGLE = 0, MPI_THREAD_MULTIPLE = 4096 };

enum {
  MPI_COMM_TYPE_SHARED = 221,
  MPI_UNDEFINED = -32766,
  MPI_KEYVAL_INVALID = 0,
  MPI_ORDER_FORTRAN = 15,
  MPI_DISTRIBUTE_NONE = 16,
  MPI_DISTRIBUTE_BLOCK = 17,
  MPI_DISTRIBUTE_DFLT_DARG = 19,
  MPI_SEEK_CUR = 401,
  MPI_SEEK_END = 402,
  MPI_SEEK_SET = 403
};

enum {
  MPI_COMBINER_NAMED = 101,
  MPI_COMBINER_DUP = 102,
  MPI_COMBINER_CONTIGUOUS = 103,
  MPI_COMBINER_VECTOR = 104,
  MPI_COMBINER_HVECTOR = 105,
  MPI_COMBINER_INDEXED = 106,
  MPI_COMBINER_HINDEXED = 107,
  MPI_COMBINER_INDEXED_BLOCK = 108,
  MPI_COMBINER_HINDEXED_BLOCK = 109,
  MPI_COMBINER_STRUCT = 110,
  MPI_COMBINER_SUBARRAY = 111,
  MPI_COMBINER_DARRAY = 112,
  MPI_COMBINER_F90_REAL = 113,
  MPI_COMBINER_F90_COMPLEX = 114,
  MPI_COMBINER_F90_INTEGER = 115,
  MPI_COMBINER_RESIZED = 116
};

typedef int MPI_Grequest_query_function(void*, MPI_Status*);
typedef int MPI_Grequest_free_function(void*);
typedef int MPI_Grequest_cancel_function(void*, int);
typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void*, void*, void*, int*);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void*, void*);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void*, void*, void*, int*);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void*, void*);
typedef int MPI_Datarep_extent_function(MPI_Datatype, MPI_Aint*, void*);
typedef int MPI_Datarep_conversion_function(void*, MPI_Datatype, int, void*, MPI_Offset, void*);

#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0)

int PMPI_Abort(MPI_Comm, int);
int PMPI_Allgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm);
int PMPI_Allgatherv(const void*, int, MPI_Datatype, void*, const int[], const int[], MPI_Datatype,
                    MPI_Comm);
int PMPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int PMPI_Barrier(MPI_Comm);
int PMPI_Bcast(void*, int, MPI_Datatype, int, MPI_Comm);
int PMPI_Comm_create_group(MPI_Comm, MPI_Group, int, MPI_Comm*);
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*, int*,
                            void*);
int PMPI_Comm_free(MPI_Comm*);
int PMPI_Comm_free_keyval(int*);
int PMPI_Comm_get_attr(MPI_Comm, int, void*, int*);
int PMPI_Comm_group(MPI_Comm, MPI_Group*);
int PMPI_Comm_dup(MPI_Comm, MPI_Comm*);
int PMPI_Comm_idup(MPI_Comm, MPI_Comm*, MPI_Request*);
int PMPI_Comm_rank(MPI_Comm, int*);
int PMPI_Comm_set_attr(MPI_Comm, int, void*);
int PMPI_Comm_set_errhandler(MPI_Comm, MPI_Errhandler);
int PMPI_Comm_size(MPI_Comm, int*);
int PMPI_Comm_delete_attr(MPI_Comm, int);
MPI_Comm PMPI_Comm_fromint(int);
int PMPI_Comm_test_inter(MPI_Comm, int*);
int PMPI_Iallgather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, MPI_Comm,
                    MPI_Request*);
int PMPI_Comm_split(MPI_Comm, int, int, MPI_Comm*);
int PMPI_Comm_split_type(MPI_Comm, int, int, MPI_Info, MPI_Comm*);
int PMPI_Comm_test_inter(MPI_Comm, int*);
int PMPI_Errhandler_free(MPI_Errhandler*);
int PMPI_Error_class(int, int*);
int PMPI_Error_string(int, char*, int*);
int PMPI_File_call_errhandler(MPI_File, int);
int PMPI_File_get_errhandler(MPI_File, MPI_Errhandler*);
int PMPI_File_set_errhandler(MPI_File, MPI_Errhandler);
int PMPI_Finalized(int*);
int PMPI_Gather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm);
int PMPI_Get_count(const MPI_Status*, MPI_Datatype, int*);
int PMPI_Grequest_complete(MPI_Request);
int PMPI_Grequest_start(MPI_Grequest_query_function*, MPI_Grequest_free_function*,
                        MPI_Grequest_cancel_function*, void*, MPI_Request*);
int PMPI_Group_free(MPI_Group*);
int PMPI_Group_incl(MPI_Group, int, const int[], MPI_Group*);
int PMPI_Group_translate_ranks(MPI_Group, int, const int[], MPI_Group, int[]);
int PMPI_Iallreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
int PMPI_Ibarrier(MPI_Comm, MPI_Request*);
int PMPI_Ibcast(void*, int, MPI_Datatype, int, MPI_Comm, MPI_Request*);
int PMPI_Igather(const void*, int, MPI_Datatype, void*, int, MPI_Datatype, int, MPI_Comm,
                 MPI_Request*);
int PMPI_Igatherv(const void*, int, MPI_Datatype, void*, const int[], const int[], MPI_Datatype,
                  int, MPI_Comm, MPI_Request*);
int PMPI_Imrecv(void*, int, MPI_Datatype, MPI_Message*, MPI_Request*);
int PMPI_Improbe(int, int, MPI_Comm, int*, MPI_Message*, MPI_Status*);
int PMPI_Iprobe(int, int, MPI_Comm, int*, MPI_Status*);
int PMPI_Info_create(MPI_Info*);
int PMPI_Info_get(MPI_Info, const char*, int, char*, int*);
int PMPI_Info_set(MPI_Info, const char*, const char*);
int PMPI_Initialized(int*);
int PMPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int PMPI_Iscan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*);
int PMPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int PMPI_Pack(const void*, int, MPI_Datatype, void*, int, int*, MPI_Comm);
int PMPI_Query_thread(int*);
int PMPI_Scan(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
int PMPI_Status_set_cancelled(MPI_Status*, int);
int PMPI_Status_set_elements_x(MPI_Status*, MPI_Datatype, MPI_Count);
int PMPI_Test(MPI_Request*, int*, MPI_Status*);
int PMPI_Testsome(int, MPI_Request[], int*, int[], MPI_Status*);
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function*, MPI_Type_delete_attr_function*, int*,
                            void*);
int PMPI_Type_dup(MPI_Datatype, MPI_Datatype*);
int PMPI_Type_free(MPI_Datatype*);
int PMPI_Type_get_attr(MPI_Datatype, int, void*, int*);
int PMPI_Type_get_contents(MPI_Datatype, int, int, int, int[], MPI_Aint[], MPI_Datatype[]);
int PMPI_Type_get_envelope(MPI_Datatype, int*, int*, int*, int*);
int PMPI_Type_get_extent_x(MPI_Datatype, MPI_Count*, MPI_Count*);
int PMPI_Type_set_attr(MPI_Datatype, int, void*);
int PMPI_Type_size_x(MPI_Datatype, MPI_Count*);
int PMPI_Wait(MPI_Request*, MPI_Status*);

#ifdef __cplusplus
}
#endif
