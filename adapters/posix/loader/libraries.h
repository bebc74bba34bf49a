// Shared libraries that lie in the cover.
//
// The loader opens files by system calls of its own: below the cover it finds what was there
// before; of the rest it knows nothing. So it is given either the path below, where a file's bytes
// still lie there (what the file finds beside itself is right then, too), or a copy in memory. And
// what a file needs of the cover is loaded before it: a library that is there already, by its
// DT_SONAME, is not looked for.
//
// A library without a DT_SONAME cannot be recognised so: who needs it is copied, and the copy does
// not ask for it. Libraries that need each other, and have changed, can be given to a program that
// starts, but not opened by one that runs.
#pragma once

#include <limits.h>
#include <stddef.h>

#include "posix/loader/elf.h"
#include "posix/path/lookup.h"

namespace posix {

// A file of the cover as the loader, or the kernel, can open it.
struct Loadable {
  int copy = -1;        // in memory; -1: `path` leads to it below the cover, or the loader has it
  bool copied = false;  // now, or when the loader got it
  cairn_ino ino;
  uint64_t generation;
  char path[PATH_MAX];  // absolute
};

// Who asks for a library.
struct Asker {
  const char* path;  // absolute, or null
  const char* rpath;
  const char* runpath;
};

// What a program or library needs of the cover, and all that needs in turn.
class Needs {
 public:
  // `library_path`: the value of LD_LIBRARY_PATH, or null. `loading`: into this process, where much
  // is there already.
  Needs(const char* library_path, bool loading) : library_path_(library_path), loading_(loading) {}
  ~Needs();
  Needs(const Needs&) = delete;
  Needs& operator=(const Needs&) = delete;

  // Makes what was found under this absolute path loadable. 0 or a negative errno, also where that
  // is so of something that it needs: the loader would find what lies below.
  int prepare(const Found& found, const char* path, Loadable* loadable);
  // The same for what a library outside of the cover needs, or a program, whose $ORIGIN is where
  // its symbolic links lead.
  int prepare_outside(const char* path);
  int prepare_program(const char* path);
  // ... and what the libraries outside of the cover need that LD_PRELOAD names.
  int prepare_preloads(char* const* environment);
  // Looks for a library that `asker` asks for without a path, as the loader does. 0,
  // kNotByThatWay, or a negative errno: -ELIBACC if only the loader would find one, below the
  // cover.
  static constexpr int kNotByThatWay = 1;
  int prepare_named(const char* name, const Asker& asker, Loadable* loadable);

  // What a file asks for, one behind the other.
  struct Names {
    char* text;
    size_t size;
    void add(const char* name);
  };
  struct Library {
    char name[PATH_MAX];  // as it was asked for
    bool nameless;        // has no DT_SONAME of this name
    bool elsewhere;       // and found by the loader itself
    bool hidden;          // the loader would find another one, which the cover does not show
    Loadable loadable;
    void* handle;  // while it is held for who needs it
    Names needs;
    Library* next;
    bool placed;
    Library* after;
  };
  // Each before those that need it, by `next`.
  Library* first() const { return first_; }
  // As the loader would find them, which is how symbols are looked for, by `after`: what the
  // program needs, as it asks for it, then what that needs.
  const Library* as_found();
  // The loader would not find all of them by itself.
  bool must_be_given() const { return must_be_given_; }
  // ... or would find others below the cover.
  bool has_others_below() const;

 private:
  // Who needs a library is looked at for its RPATH, and who needs that one.
  struct Above {
    const char* rpath;
    const char* path;
    const Above* next;
  };
  // Where a name leads, looked for in one list of directories after the other.
  struct Place {
    char* path;  // of PATH_MAX
    Found found;
    bool is_covered = false;
    bool elsewhere = false;
    bool is_hidden = false;  // before that, the loader finds one that the cover does not show
    bool is_settled() const { return is_covered || elsewhere; }
  };
  struct Dropped {
    static constexpr size_t kMost = 64;
    uint64_t at[kMost];  // where in the file each is asked for
    size_t count = 0;
    bool needed = false;  // the loader would not find them
    void add(const Library& library, uint64_t where);
  };

  Library* known(const char* name) const;
  static bool is_among(const Above* above, const char* name);
  void search(const char* list, const char* name, const char* origin, Place* place);
  void look_at(const char* path, Place* place);
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
  bool is_name_hidden_ = false;  // of the one that prepare_named looked for
  int error_ = 0;                // of something that is needed
  bool told_ = false;
  int depth_ = 0;
  char* hidden_ = nullptr;  // what the loader would find below the cover
  Library* first_ = nullptr;
  Library** end_ = &first_;
  Names names_ = {};  // of the program's needs
  Library* found_first_ = nullptr;
};

// May somebody who has this LD_LIBRARY_PATH need libraries of the cover?
bool may_need_covered(const char* library_path);
// ... or this program or library outside of it, by a path of its own?
bool may_need_covered(const char* path, const char* library_path);
bool may_need_covered(const Elf& elf, int fd, const char* path);
// ... or a library outside of it that LD_PRELOAD names?
bool preloads_may_need_covered(char* const* environment);

// An environment with the libraries in its LD_PRELOAD, for a program about to be started.
class Given {
 public:
  Given(Needs& needs, char* const* environment);
  ~Given();
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
  char* const* environment() const { return list_ != nullptr ? list_ : from_; }
  // In the program that got them: its own programs are not to have them.
  static void take_out();

 private:
  Needs& needs_;
  char* const* from_;
  char** list_ = nullptr;
  char* text_ = nullptr;
  char* note_ = nullptr;
};

// An environment whose LD_PRELOAD and LD_AUDIT name nothing that the loader would find otherwise
// than the cover shows it.
class Preloads {
 public:
  explicit Preloads(char* const* environment);
  ~Preloads();
  Preloads(const Preloads&) = delete;
  Preloads& operator=(const Preloads&) = delete;
  char* const* environment() const { return list_ != nullptr ? list_ : from_; }
  // Would the loader look for any of the names in the cover?
  static bool may_need_covered(char* const* environment);

 private:
  static constexpr size_t kVariables = 2;
  char* const* from_;
  char** list_ = nullptr;
  char* texts_[kVariables] = {};
};

// The value of a variable, or null.
const char* value_of(char* const* environment, const char* name);

}  // namespace posix
