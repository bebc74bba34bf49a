// The groups of rows of bench_core, one file each.
#pragma once

#include "medium.h"
#include "pools.h"
#include "report.h"
#include "settings.h"

namespace cairn::bench {

void overwrite_rows(const Settings& settings, const Medium& medium,
                    Report& report);  // core_overwrite.cc
void read_rows(const Settings& settings, const Medium& medium, Report& report);
void random_rows(const Settings& settings, const Medium& medium, Report& report);  // core_random.cc
void fresh_rows(const Settings& settings, const Medium& medium, Report& report);   // core_fresh.cc
void append_rows(const Settings& settings, const Medium& medium, Report& report);
void durable_rows(const Settings& settings, const Medium& medium,
                  Report& report);  // core_durable.cc
void process_rows(const Settings& settings, const Medium& medium,
                  Report& report);  // core_processes.cc
void first_pass_rows(const Settings& settings, const Medium& shm,
                     Report& report);  // core_first_pass.cc
void checkpoint_rows(const Settings& settings, const Medium& huge, const Medium& shm,
                     Report& report);  // core_checkpoint.cc
void metadata_rows(const Settings& settings, const Medium& medium,
                   Report& report);                                              // core_metadata.cc
void life_rows(const Settings& settings, const Medium& medium, Report& report);  // core_life.cc

// What a program does that was started to attach and tell how long it took, in nanoseconds.
inline constexpr const char* tell_attach = "--tell-attach";
inline constexpr const char* tell_attach_and_read = "--tell-attach-and-read";
int tell_attach_time(const char* path, bool and_read);

// C API calls over [from, from + size) of a file in pieces; nanoseconds.
double cairn_write_pieces(cairn_file* file, const uint8_t* source, size_t piece, uint64_t from,
                          size_t size);
double cairn_read_pieces(cairn_file* file, uint8_t* destination, size_t piece, uint64_t from,
                         size_t size);

}  // namespace cairn::bench
