// ADIOS2 with its engine BP5: a file for each rank, which holds the rank's boxes of the global
// arrays, created anew for each version. Its package at PyPI is built without MPI, so its ranks
// cannot share a file. The library is loaded when CAIRN_ADIOS2 names the directory that has it.
#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "back_end.h"

namespace palm {
namespace {

// The ABI of adios2/c/*.h, version 2.12, so that ADIOS2 need not be there when this is built.
enum Mode { mode_write = 1, mode_deferred = 4, mode_random_access = 6 };
enum Type { type_uint8 = 9, type_uint32 = 11, type_uint64 = 12 };
using Handle = void*;

template <typename Function>
Function* symbol(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (found == nullptr) stop(std::string("ADIOS2: has no ") + name);
  return reinterpret_cast<Function*>(found);
}

struct Calls {
  explicit Calls(void* library)
      : init(symbol<Handle()>(library, "adios2_init_serial")),
        declare(symbol<Handle(Handle, const char*)>(library, "adios2_declare_io")),
        set_engine(symbol<int(Handle, const char*)>(library, "adios2_set_engine")),
        define(symbol<Handle(Handle, const char*, int, size_t, const size_t*, const size_t*,
                             const size_t*, int)>(library, "adios2_define_variable")),
        inquire(symbol<Handle(Handle, const char*)>(library, "adios2_inquire_variable")),
        select(symbol<int(Handle, size_t, const size_t*, const size_t*)>(library,
                                                                         "adios2_set_selection")),
        select_memory(symbol<int(Handle, size_t, const size_t*, const size_t*)>(
            library, "adios2_set_memory_selection")),
        open(symbol<Handle(Handle, const char*, int)>(library, "adios2_open")),
        put(symbol<int(Handle, Handle, const void*, int)>(library, "adios2_put")),
        get(symbol<int(Handle, Handle, void*, int)>(library, "adios2_get")),
        close(symbol<int(Handle)>(library, "adios2_close")) {}

  Handle (*init)();
  Handle (*declare)(Handle adios, const char* name);
  int (*set_engine)(Handle io, const char* name);
  Handle (*define)(Handle io, const char* name, int type, size_t dimensions, const size_t* shape,
                   const size_t* start, const size_t* count, int is_constant);
  Handle (*inquire)(Handle io, const char* name);
  int (*select)(Handle variable, size_t dimensions, const size_t* start, const size_t* count);
  int (*select_memory)(Handle variable, size_t dimensions, const size_t* start,
                       const size_t* count);
  Handle (*open)(Handle io, const char* path, int mode);
  int (*put)(Handle engine, Handle variable, const void* data, int mode);
  int (*get)(Handle engine, Handle variable, void* data, int mode);
  int (*close)(Handle engine);
};

// A box of a variable, in elements that ADIOS2 has; of others the bytes are a dimension.
struct Shape {
  explicit Shape(const Variable& variable) {
    global.assign(variable.global.begin(), variable.global.end());
    start.assign(variable.offset.begin(), variable.offset.end());
    count.assign(variable.count.begin(), variable.count.end());
    const std::vector<int64_t> extents = variable.extents();
    memory_count.assign(extents.begin(), extents.end());
    memory_start.assign(extents.size(), 0);
    for (size_t k = 0; k < 2 && variable.ghosts > 0; ++k)
      memory_start[k] = static_cast<size_t>(variable.ghosts);
    type = variable.element == 8 ? type_uint64 : variable.element == 4 ? type_uint32 : type_uint8;
    const bool is_whole = variable.element == 8 || variable.element == 4 || variable.element == 1;
    if (is_whole && !global.empty()) return;
    for (auto* const sizes : {&global, &count, &memory_count})
      sizes->push_back(is_whole ? 1 : static_cast<size_t>(variable.element));
    start.push_back(0);
    memory_start.push_back(0);
  }
  std::vector<size_t> global, start, count, memory_start, memory_count;
  Type type;
};

class Adios2 : public BackEnd {
 public:
  Adios2(void* library, std::string directory)
      : calls_(library), directory_(std::move(directory)), adios_(calls_.init()) {
    writes_ = declare("write");
    reads_ = declare("read");
  }

  void create(Model& model, int64_t) override {
    if (variables_.empty()) define(model);
    const Handle engine = open(model, writes_, mode_write);
    for (size_t i = 0; i < variables_.size(); ++i)
      must_be(calls_.put(engine, variables_[i], model.variables()[i].memory.data(), mode_deferred),
              "put");
    must_be(calls_.close(engine), "close");
  }

  void restore(Model& model) override {
    const Handle engine = open(model, reads_, mode_random_access);
    for (Variable& variable : model.variables()) {
      const Shape shape(variable);
      const Handle handle = calls_.inquire(reads_, variable.name.c_str());
      if (handle == nullptr) stop("ADIOS2: has no variable " + variable.name);
      const size_t dimensions = shape.global.size();
      must_be(calls_.select(handle, dimensions, shape.start.data(), shape.count.data()), "box");
      select_memory(variable, shape, handle);
      must_be(calls_.get(engine, handle, variable.memory.data(), mode_deferred), "get");
    }
    must_be(calls_.close(engine), "close");
  }

  [[nodiscard]] std::string file(int) const override { return ""; }

 private:
  static void must_be(int error, const char* what) {
    if (error != 0) stop(std::string("ADIOS2: ") + what + ": error " + std::to_string(error));
  }

  Handle declare(const char* name) {
    const Handle io = calls_.declare(adios_, name);
    if (io == nullptr) stop("ADIOS2: no IO");
    must_be(calls_.set_engine(io, "BP5"), "engine BP5");
    return io;
  }

  Handle open(const Model& model, Handle io, Mode mode) {
    const std::string path = directory_ + "/adios2-" + std::to_string(model.rank) + ".bp";
    const Handle engine = calls_.open(io, path.c_str(), mode);
    if (engine == nullptr) stop("ADIOS2: " + path);
    return engine;
  }

  void define(Model& model) {
    for (const Variable& variable : model.variables()) {
      const Shape shape(variable);
      variables_.push_back(calls_.define(writes_, variable.name.c_str(), shape.type,
                                         shape.global.size(), shape.global.data(),
                                         shape.start.data(), shape.count.data(), 1));
      if (variables_.back() == nullptr) stop("ADIOS2: cannot define " + variable.name);
      select_memory(variable, shape, variables_.back());
    }
  }

  void select_memory(const Variable& variable, const Shape& shape, Handle handle) {
    if (variable.ghosts == 0) return;
    must_be(calls_.select_memory(handle, shape.global.size(), shape.memory_start.data(),
                                 shape.memory_count.data()),
            "box in memory");
  }

  Calls calls_;
  std::string directory_;
  Handle adios_;
  Handle writes_ = nullptr;
  Handle reads_ = nullptr;
  std::vector<Handle> variables_;
};

}  // namespace

std::unique_ptr<BackEnd> adios2(const std::string& directory) {
  const char* const place = std::getenv("CAIRN_ADIOS2");
  if (place == nullptr) return nullptr;
  const std::string path = std::string(place) + "/libadios2_c.so.2.12";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) stop(std::string("ADIOS2: ") + dlerror());
  return std::make_unique<Adios2>(library, directory);
}

}  // namespace palm
