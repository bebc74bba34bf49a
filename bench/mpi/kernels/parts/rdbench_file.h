// RdbenchFile writes and reads one file of rdbench: the square of a Gray-Scott reaction, in one of
// rdbench's three ways.
//   view:   canonical order (row by row of the whole square), one call of a rank, by a file view
//   manual: canonical order, one call for each row of a block
//   chunk:  block after block in the order of the ranks, one call of a rank
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "files/file.h"
#include "parts/gray_scott.h"

namespace kernels {

enum class IoType { view, manual, chunk };

struct RdbenchAccess {
  IoType type = IoType::view;
  bool collective = false;
  bool sync = true;
  Hints hints = {};
};

class RdbenchFile {
 public:
  explicit RdbenchFile(RdbenchAccess access) : access_(std::move(access)) {}

  void open(const std::string& path, bool writing);
  void write(const GrayScott& state);
  // Reads the block of rank `owner` of `writers`' split, without halo. All ranks must call it.
  void read(const Split& writers, int owner, std::vector<double>* block);
  // Reads the block of this rank of `readers`' split from a file of another split, row by row.
  void read_other(const Split& writers, const Split& readers, std::vector<double>* block);
  void sync();
  void close();
  // The hints in force. After open().
  [[nodiscard]] Hints hints() const;
  // Calls of one rank that write() or read() makes.
  [[nodiscard]] int64_t calls(const Split& split) const {
    return access_.type == IoType::manual ? split.height() : 1;
  }

 private:
  void write_at(MPI_Offset offset, const void* from, int count, MPI_Datatype type);
  void read_at(MPI_Offset offset, void* to, int count, MPI_Datatype type);
  void set_view(const Split& split, int owner);

  RdbenchAccess access_;
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace kernels
