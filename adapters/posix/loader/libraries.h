// Shared libraries that lie in the cover.
//
// The loader opens files by its own system calls. Below the cover it finds the files that were
// there before, and no others. So it is given the path below, if the file's bytes still lie there
// (then the file also finds its neighbours), or else a copy in memory. Libraries of the cover that
// a file needs are loaded before it: the loader does not search for a library that is loaded
// already, by its DT_SONAME.
//
// A library without a DT_SONAME cannot be recognised in this way. A file that needs it is copied,
// and the copy does not ask for it. Libraries that need each other, and have changed, can be given
// to a program that starts, but cannot be opened by one that runs.
#pragma once

#include <limits.h>
#include <stddef.h>

#include "posix/loader/elf.h"
#include "posix/loader/system_libraries.h"
#include "posix/path/lookup.h"

namespace posix {

// A file of the cover that the loader or the kernel can open.
struct Loadable {
  int copy = -1;        // in memory; -1: `path` leads to it below the cover, or it is loaded
  bool copied = false;  // now, or when it was loaded
  cairn_ino ino;
  uint64_t generation;
  char path[PATH_MAX];  // absolute
};

// The object that asks for a library.
struct Asker {
  const char* path;  // absolute, or null
  const char* rpath;
  const char* runpath;
};

// All libraries of the cover that a program or library needs, directly or not.
class Needs {
 public:
  // `library_path`: the value of LD_LIBRARY_PATH, or null. `loading`: for this process, which has
  // loaded many already.
  Needs(const char* library_path, bool loading) : library_path_(library_path), loading_(loading) {}
  ~Needs();
  Needs(const Needs&) = delete;
  Needs& operator=(const Needs&) = delete;

  // Makes a file that was found under this absolute path loadable. Returns a negative errno if that
  // fails for the file or for a library that it needs: the loader would find the one below.
  int prepare(const Found& found, const char* path, Loadable* loadable);
  // Do the same for the needs of a library outside the cover, and of a program, whose $ORIGIN is
  // where its symbolic links lead.
  int prepare_outside(const char* path);
  int prepare_program(const char* path);
  // Does the same for the needs of libraries outside the cover in LD_PRELOAD.
  int prepare_preloads(char* const* environment);
  // Searches for a library that `asker` asks for without a path, as the loader does. Returns 0,
  // kNotByThatWay, or a negative errno: -ELIBACC if only the loader would find one, below the
  // cover.
  static constexpr int kNotByThatWay = 1;
  int prepare_named(const char* name, const Asker& asker, Loadable* loadable);

  // The names that a file asks for, one after the other.
  struct Names {
    char* text;
    size_t size;
    void add(const char* name);
  };
  struct Library {
    char name[PATH_MAX];  // as the file asks for it
    bool nameless;        // its DT_SONAME is not this name
    bool elsewhere;       // the loader itself finds it
    bool hidden;          // the loader would find another one, which the cover does not show
    Loadable loadable;
    void* handle;  // keeps it loaded for the libraries that need it
    Names needs;
    Library* next;
    bool placed;
    Library* after;
  };
  // Returns the libraries, linked by `next`: each comes before those that need it.
  Library* first() const { return first_; }
  // Returns the libraries, linked by `after`, in the order in which the loader would find them and
  // searches for symbols: the needs of the program in its order, then their needs.
  const Library* as_found();
  // Returns true if the loader would not find all of them.
  bool must_be_given() const { return must_be_given_; }
  // Returns true if the loader would find others below the cover.
  bool has_others_below() const;

 private:
  // The RPATHs of a library's dependents are searched, recursively.
  struct Above {
    const char* rpath;
    const char* path;
    const Above* next;
  };
  // The result of a search for a name, in one list of directories after the other.
  struct Place {
    char* path;  // PATH_MAX bytes
    Found found;
    bool is_covered = false;
    bool elsewhere = false;
    bool is_hidden = false;  // the loader would find one before, which the cover does not show
    bool is_found() const { return is_covered || elsewhere; }
  };
  struct Dropped {
    static constexpr size_t kMost = 64;
    uint64_t at[kMost];  // positions of their entries in the file
    size_t count = 0;
    bool needed = false;  // true: the loader would not find them
    void add(const Library& library, uint64_t where);
  };

  Library* known(const char* name) const;
  static bool is_among(const Above* above, const char* name);
  void search(const char* list, const char* name, const char* origin, Place* place);
  void look_at(const char* path, Place* place);
  void search_system(const char* name, const Above& above, Place* place);
  const Library* add(const char* name, const Place& place, const Above* above);
  void refuse(const char* path, int error, const char* why);
  bool look_outside(const char* path, const Above* above, Names* names, const char* name);
  void look_for(const Elf& elf, const char* path, const Above* above, Names* names,
                Dropped* dropped);
  int make_loadable(const Found& found, const char* path, const Above* above, Names* names,
                    Loadable* loadable, bool* named, const char* name);
  Library** place(const Names& names, Library** end);

  const char* library_path_;
  bool loading_;
  bool must_be_given_ = false;
  bool is_name_hidden_ = false;  // for prepare_named
  int error_ = 0;                // for a needed library
  bool told_ = false;
  int depth_ = 0;
  SystemLibraries system_;
  char* hidden_ = nullptr;  // path of a hidden library, below the cover
  Library* first_ = nullptr;
  Library** end_ = &first_;
  Names names_ = {};  // needs of the program
  Library* found_first_ = nullptr;
};

// Returns true if a program with this LD_LIBRARY_PATH may need libraries of the cover.
bool may_need_covered(const char* library_path);
// Return true if this program or library outside the cover may need some, also by its own RPATH.
bool may_need_covered(const char* path, const char* library_path);
bool may_need_covered(const Elf& elf, int fd, const char* path);
// Returns true if a library outside the cover in LD_PRELOAD may need some.
bool preloads_may_need_covered(char* const* environment);

// The environment for a program about to be started, with the libraries in its LD_PRELOAD.
class Given {
 public:
  Given(Needs& needs, char* const* environment);
  ~Given();
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  char* const* environment() const { return list_ != nullptr ? list_ : from_; }
  // Takes the libraries out of the environment of the program that got them, so that its own
  // programs do not.
  static void take_out();

 private:
  Needs& needs_;
  char* const* from_;
  char** list_ = nullptr;
  char* text_ = nullptr;
  char* note_ = nullptr;
};

// The environment for a program about to be started. Its LD_PRELOAD and LD_AUDIT lack entries of
// the cover that the loader would not find as the cover shows them.
class Preloads {
 public:
  explicit Preloads(char* const* environment);
  ~Preloads();
  Preloads(const Preloads&) = delete;
  Preloads& operator=(const Preloads&) = delete;
  char* const* environment() const { return list_ != nullptr ? list_ : from_; }
  // Returns true if the loader may look for an entry in the cover.
  static bool may_need_covered(char* const* environment);

 private:
  static constexpr size_t kVariables = 2;
  char* const* from_;
  char** list_ = nullptr;
  char* texts_[kVariables] = {};
};

// Returns the value of a variable, or null.
const char* value_of(char* const* environment, const char* name);

}  // namespace posix
