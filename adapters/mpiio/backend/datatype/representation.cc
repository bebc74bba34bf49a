#include "mpiio/backend/datatype/representation.h"

#include <strings.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "mpiio/backend/datatype/elements.h"
#include "mpiio/backend/datatype/external32.h"
#include "mpiio/backend/datatype/layout_of.h"
#include "mpiio/backend/datatype/memory.h"
#include "mpiio/backend/job/errors.h"

namespace mpiio {
namespace {

class External32 : public Representation {
 public:
  [[nodiscard]] int64_t size(MPI_Datatype predefined) const override {
    return size_in_external32(predefined);
  }

  int write(const void* buffer, MPI_Datatype datatype, int64_t skip, int64_t items, char* file,
            int64_t bytes) const override {
    const auto layout = layout_of(datatype);
    std::vector<char> native(static_cast<size_t>(items * layout->size));
    gather(*layout, buffer, skip * layout->size, native.data(), items * layout->size);
    to_external32(elements_of(datatype), native.data(), file, bytes);
    return MPI_SUCCESS;
  }

  int read(void* buffer, MPI_Datatype datatype, int64_t skip, int64_t items, const char* file,
           int64_t bytes, int64_t* got) const override {
    const auto layout = layout_of(datatype);
    std::vector<char> native(static_cast<size_t>(items * layout->size));
    *got = from_external32(elements_of(datatype), native.data(), file, bytes);
    scatter(*layout, buffer, skip * layout->size, native.data(), *got);
    return MPI_SUCCESS;
  }
};

// Converts by functions of the program.
template <typename Count>
class Registered : public Representation {
 public:
  Registered(Conversion<Count>* reader, Conversion<Count>* writer,
             MPI_Datarep_extent_function* extent, void* extra)
      : read_(reader), write_(writer), extent_(extent), extra_(extra) {}

  [[nodiscard]] int64_t size(MPI_Datatype predefined) const override {
    MPI_Aint bytes = 0;
    extent_(predefined, &bytes, extra_);
    return bytes;
  }

  int write(const void* buffer, MPI_Datatype datatype, int64_t skip, int64_t items, char* file,
            int64_t bytes) const override {
    if (write_ == nullptr) {
      gather(*layout_of(datatype), buffer, skip * layout_of(datatype)->size, file, bytes);
      return MPI_SUCCESS;
    }
    return write_(const_cast<void*>(buffer), datatype, static_cast<Count>(items), file, skip,
                  extra_);
  }

  int read(void* buffer, MPI_Datatype datatype, int64_t skip, int64_t items, const char* file,
           int64_t bytes, int64_t* got) const override {
    const auto layout = layout_of(datatype);
    if (read_ == nullptr) {
      scatter(*layout, buffer, skip * layout->size, file, bytes);
      *got = bytes;
      return MPI_SUCCESS;
    }
    int64_t item = 0;
    for (const Element& element : elements_of(datatype)) item += element.count * size(element.type);
    const int64_t whole = item == 0 ? 0 : std::min(items, bytes / item);
    *got = whole * layout->size;
    if (whole == 0) return MPI_SUCCESS;
    return read_(buffer, datatype, static_cast<Count>(whole), const_cast<char*>(file), skip,
                 extra_);
  }

 private:
  Conversion<Count>* read_;  // null: bytes are those of memory
  Conversion<Count>* write_;
  MPI_Datarep_extent_function* extent_;
  void* extra_;
};

std::mutex registry_lock;
std::map<std::string, std::shared_ptr<const Representation>>& registry() {
  static auto* all = new std::map<std::string, std::shared_ptr<const Representation>>{
      {"native", nullptr}, {"internal", nullptr}, {"external32", std::make_shared<External32>()}};
  return *all;
}

}  // namespace

bool find_representation(const std::string& name, std::shared_ptr<const Representation>* found) {
  const std::lock_guard guard(registry_lock);
  auto at = registry().find(name);
  // The standard's own names may be written in capitals, as in ROMIO.
  for (const char* standard : {"native", "internal", "external32"})
    if (strcasecmp(name.c_str(), standard) == 0) at = registry().find(standard);
  if (at == registry().end()) return false;
  *found = at->second;
  return true;
}

template <typename Count>
int register_representation(const char* name, Conversion<Count>* read, Conversion<Count>* write,
                            MPI_Datarep_extent_function* extent, void* extra) {
  if (std::strlen(name) >= MPI_MAX_DATAREP_STRING)
    return error(MPI_ERR_ARG, std::string("data representation '") + name +
                                  "': the name is too long: " + std::to_string(std::strlen(name)) +
                                  " characters, at most " +
                                  std::to_string(MPI_MAX_DATAREP_STRING - 1));
  if (extent == nullptr)
    return error(MPI_ERR_ARG,
                 std::string("data representation '") + name + "': no extent function; give one");
  const std::lock_guard guard(registry_lock);
  const bool made =
      registry()
          .try_emplace(name, std::make_shared<Registered<Count>>(read, write, extent, extra))
          .second;
  return made ? MPI_SUCCESS
              : error(MPI_ERR_DUP_DATAREP, std::string("data representation '") + name +
                                               "': registered already; choose another name");
}

template int register_representation<int>(const char*, Conversion<int>*, Conversion<int>*,
                                          MPI_Datarep_extent_function*, void*);
template int register_representation<MPI_Count>(const char*, Conversion<MPI_Count>*,
                                                Conversion<MPI_Count>*,
                                                MPI_Datarep_extent_function*, void*);

}  // namespace mpiio
