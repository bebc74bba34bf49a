// Reads a program's file for its interpreter, libraries and search paths, without running it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cairn::cli {

struct ElfFile {
  bool is_64_bit = false;
  uint16_t machine = 0;
  bool has_interpreter = false;  // started by the loader, so that LD_PRELOAD works
  bool is_dynamic = false;
  bool is_go = false;
  std::vector<std::string> needed;   // DT_NEEDED
  std::vector<std::string> search;   // DT_RUNPATH, else DT_RPATH, $ORIGIN replaced
  std::vector<std::string> imports;  // undefined symbols of the dynamic symbol table
};

// Returns nothing if the file is not an ELF file or is damaged. Every offset in the file is checked
// before it is used.
std::optional<ElfFile> read_elf(const std::string& path);

// This machine's e_machine.
uint16_t native_machine();

// The file of a needed library as the loader would find it, "" if nowhere.
std::string find_library(const std::string& name, const std::vector<std::string>& search);

}  // namespace cairn::cli
