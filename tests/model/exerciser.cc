#include "model/exerciser.h"

#include <cerrno>

namespace cairn::test {

Exerciser::Exerciser(cairn_pool* pool, cairn_ino top, const ExerciserOptions& options)
    : pool_(pool),
      top_(top),
      options_(options),
      random_(options.seed),
      root_(make_node(S_IFDIR, 0700)) {
  root_->ino = top;
}

Exerciser::~Exerciser() {
  for (Handle& h : handles_) close(h);
}

void Exerciser::differs(const std::string& what) {
  if (!failed_)
    ADD_FAILURE() << "operation " << operations_ << " of seed " << options_.seed << " (" << last_
                  << "): " << what << "; last error: " << cairn_last_error();
  failed_ = true;
}

bool Exerciser::went(int64_t result, int expected, const char* what, bool may_lack_space) {
  if (expected == 0 && result >= 0) return true;
  if (result == -expected) return false;
  if ((may_lack_space || options_.is_covered) && options_.may_be_full && result == -ENOSPC) {
    ++refused_;
    return false;
  }
  differs(std::string(what) + " gave " + std::to_string(result) + ", not " +
          std::to_string(-expected));
  return false;
}

bool Exerciser::step() {
  ++operations_;
  struct Operation {
    unsigned weight;
    const char* name;
    void (Exerciser::*on_file)(Handle&);
    void (Exerciser::*on_names)();
  };
  static constexpr Operation all[] = {
      {12, "pwrite", &Exerciser::pwrite, nullptr},
      {4, "pwritev", &Exerciser::write_vector, nullptr},
      {4, "write pieces", &Exerciser::write_pieces, nullptr},
      {4, "read pieces", &Exerciser::read_pieces, nullptr},
      {6, "write", &Exerciser::write_shared, nullptr},
      {8, "pread", &Exerciser::pread, nullptr},
      {4, "read", &Exerciser::read_shared, nullptr},
      {6, "truncate", &Exerciser::truncate, nullptr},
      {5, "punch", &Exerciser::punch, nullptr},
      {3, "zero range", &Exerciser::zero_range, nullptr},
      {3, "preallocate", &Exerciser::preallocate, nullptr},
      {3, "mmap", &Exerciser::map, nullptr},
      {3, "seek", &Exerciser::seek, nullptr},
      {2, "fstat", &Exerciser::check_status, nullptr},
      {10, "open", nullptr, &Exerciser::open},
      {1, "O_TMPFILE", nullptr, &Exerciser::open_unnamed},
      {6, "close", nullptr, &Exerciser::close},
      {3, "mkdir", nullptr, &Exerciser::make_directory},
      {3, "link", nullptr, &Exerciser::make_link},
      {2, "symlink", nullptr, &Exerciser::make_symlink},
      {8, "rename", nullptr, &Exerciser::rename},
      {8, "unlink", nullptr, &Exerciser::unlink},
      {4, "rmdir", nullptr, &Exerciser::remove_directory},
      {3, "xattr", nullptr, &Exerciser::attribute},
      {2, "chmod", nullptr, &Exerciser::change_mode},
  };
  unsigned total = 0;
  for (const Operation& operation : all) total += operation.weight;
  uint64_t draw = random_.below(total);
  for (const Operation& operation : all) {
    if (draw >= operation.weight) {
      draw -= operation.weight;
      continue;
    }
    last_ = operation.name;
    if (operation.on_names != nullptr) {
      (this->*operation.on_names)();
    } else if (Handle* h = any_handle()) {
      last_ = operation.name;
      (this->*operation.on_file)(*h);
    }
    break;
  }
  return !failed_;
}

void Exerciser::remove_below(const NodePtr& directory) {
  for (const auto& [name, node] : directory->entries) {
    if (node->is_directory()) {
      remove_below(node);
      went(cairn_rmdir(pool_, directory->ino, name.c_str()), 0, "rmdir", false);
    } else {
      went(cairn_unlink(pool_, directory->ino, name.c_str()), 0, "unlink", false);
    }
  }
  directory->entries.clear();
}

void Exerciser::remove_all() {
  last_ = "remove all";
  for (Handle& h : handles_) close(h);
  handles_.clear();
  remove_below(root_);
}

}  // namespace cairn::test
