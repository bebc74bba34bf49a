// One file: what all ranks hold, then the global arrays one after the other, through collective
// MPI-IO. Boxes are packed without ghost layers first. Steady state: the file is there and is
// overwritten.
#include <mpi.h>

#include <vector>

#include "back_end.h"

namespace palm {
namespace {

class MpiIo : public BackEnd {
 public:
  explicit MpiIo(const std::string& directory) : path_(directory + "/mpi-io") {}

  void create(Model& model, int64_t) override {
    open(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    std::vector<char> common = pack_common(model);
    if (model.rank == 0)
      must(MPI_File_write_at(file_, 0, common.data(), static_cast<int>(common.size()), MPI_BYTE,
                             MPI_STATUS_IGNORE),
           path_);
    each_box(model, common.size(), [&](Variable& variable) {
      variable.pack(buffer_.data());
      must(MPI_File_write_all(file_, buffer_.data(), elements(variable), element_,
                              MPI_STATUS_IGNORE),
           path_);
    });
    must(MPI_File_sync(file_), path_);
    must(MPI_File_close(&file_), path_);
  }

  void restore(Model& model) override {
    open(MPI_MODE_RDONLY);
    std::vector<char> common = pack_common(model);
    must(MPI_File_read_at_all(file_, 0, common.data(), static_cast<int>(common.size()), MPI_BYTE,
                              MPI_STATUS_IGNORE),
         path_);
    const char* from = common.data();
    for (Variable& variable : model.variables()) {
      if (variable.kind != Kind::replicated) continue;
      variable.unpack(from);
      from += variable.box_bytes();
    }
    each_box(model, common.size(), [&](Variable& variable) {
      must(
          MPI_File_read_all(file_, buffer_.data(), elements(variable), element_, MPI_STATUS_IGNORE),
          path_);
      variable.unpack(buffer_.data());
    });
    must(MPI_File_close(&file_), path_);
  }

  [[nodiscard]] std::string file(int rank) const override { return rank == 0 ? path_ : ""; }

 private:
  void open(int mode) {
    must(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), mode, MPI_INFO_NULL, &file_), path_);
  }
  static std::vector<char> pack_common(Model& model) {
    std::vector<char> all;
    for (Variable& variable : model.variables())
      if (variable.kind == Kind::replicated)
        all.insert(all.end(), variable.memory.begin(), variable.memory.end());
    return all;
  }
  static int elements(const Variable& variable) {
    return static_cast<int>(variable.box_bytes() / variable.element);
  }
  // Calls `use` for each variable, with the file view of its box set.
  void each_box(Model& model, size_t begin, const std::function<void(Variable&)>& use) {
    buffer_.resize(static_cast<size_t>(model.largest_box()));
    auto at = static_cast<MPI_Offset>((begin + 4095) / 4096 * 4096);
    for (Variable& variable : model.variables()) {
      if (variable.kind == Kind::replicated) continue;
      const std::vector<int> global(variable.global.begin(), variable.global.end());
      const std::vector<int> count(variable.count.begin(), variable.count.end());
      const std::vector<int> offset(variable.offset.begin(), variable.offset.end());
      MPI_Datatype box = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(static_cast<int>(variable.element), MPI_BYTE, &element_);
      MPI_Type_commit(&element_);
      MPI_Type_create_subarray(static_cast<int>(global.size()), global.data(), count.data(),
                               offset.data(), MPI_ORDER_C, element_, &box);
      MPI_Type_commit(&box);
      must(MPI_File_set_view(file_, at, element_, box, "native", MPI_INFO_NULL), path_);
      use(variable);
      MPI_Type_free(&box);
      MPI_Type_free(&element_);
      at += (variable.global_bytes() + 4095) / 4096 * 4096;
    }
  }
  std::string path_;
  MPI_File file_ = MPI_FILE_NULL;
  MPI_Datatype element_ = MPI_DATATYPE_NULL;
  std::vector<char> buffer_;
};

}  // namespace

std::unique_ptr<BackEnd> mpi_io(const std::string& directory) {
  return std::make_unique<MpiIo>(directory);
}

}  // namespace palm
