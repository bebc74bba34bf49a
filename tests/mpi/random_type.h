// Random datatypes, each with the list of bytes that it stands for, made without asking the MPI.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <random>
#include <vector>

struct RandomType {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<int64_t> ints;  // where each int of its type map lies, in bytes
  int64_t lb = 0;
  int64_t extent = 0;
};

enum class Order : uint8_t { rising, any };  // of displacements: a filetype's must rise

// Of MPI_INTs; to be freed by the caller.
RandomType random_type(std::mt19937_64& random, Order order, int depth);
