// The groups of rows of bench_core, one file each.
#pragma once

#include "harness/medium.h"
#include "harness/pools.h"
#include "harness/report.h"
#include "harness/settings.h"

namespace cairn::bench {

void overwrite_rows(const Settings& settings, const Medium& medium,
                    Report& report);  // overwrite.cc
void read_rows(const Settings& settings, const Medium& medium, Report& report);
void random_rows(const Settings& settings, const Medium& medium, Report& report);  // random.cc
void fresh_rows(const Settings& settings, const Medium& medium, Report& report);   // fresh.cc
void append_rows(const Settings& settings, const Medium& medium, Report& report);
void durable_rows(const Settings& settings, const Medium& medium,
                  Report& report);  // durable.cc
void process_rows(const Settings& settings, const Medium& medium,
                  Report& report);  // processes.cc
void first_pass_rows(const Settings& settings, const Medium& shm,
                     Report& report);  // first_pass.cc
void checkpoint_rows(const Settings& settings, const Medium& huge, const Medium& shm,
                     Report& report);  // checkpoint.cc
void metadata_rows(const Settings& settings, const Medium& medium,
                   Report& report);                                              // metadata.cc
void life_rows(const Settings& settings, const Medium& medium, Report& report);  // life.cc

// Attaches and prints how long that took, in nanoseconds; for a program that is started with one of
// these options.
inline constexpr const char* tell_attach = "--tell-attach";
inline constexpr const char* tell_attach_and_read = "--tell-attach-and-read";
int tell_attach_time(const char* path, bool and_read);

// C API calls over [from, from + size) of a file in pieces; nanoseconds.
double cairn_write_pieces(cairn_file* file, const uint8_t* source, size_t piece, uint64_t from,
                          size_t size);
double cairn_read_pieces(cairn_file* file, uint8_t* destination, size_t piece, uint64_t from,
                         size_t size);

}  // namespace cairn::bench
