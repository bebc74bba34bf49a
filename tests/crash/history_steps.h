// What histories are written in: calls that must succeed, and the steps that crashes are looked at
// in.
#pragma once

#include <string>

#include "crash/crash_lab.h"

namespace cairn::test {

using Kind = CrashLab::Kind;

// Bytes that tell whose they are.
std::string text(char c, size_t size);

// These fail the test if the call does.
void ok(int result);
cairn_file* open_file(cairn_pool* pool, const char* name, int flags = 0);
void put(cairn_pool* pool, const char* name, const std::string& bytes, uint64_t offset);
cairn_ino inode_of(cairn_pool* pool, const char* name);

// What most histories begin with: files a, b, d/f and log, directories d and e, and free blocks
// that hold what was another file's.
void some_files(CrashLab& lab);

// One call, which happens as a whole or not at all.
void step(CrashLab& lab, const char* what, int (*operation)(cairn_pool*), int process = 0);
// One write, of which a part may be there.
void write_step(CrashLab& lab, const char* what, const char* name, char c, size_t size,
                uint64_t offset, int process = 0);

}  // namespace cairn::test
