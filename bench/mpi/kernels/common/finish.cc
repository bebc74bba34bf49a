#include "common/finish.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/ior_table.h"
#include "common/job.h"

namespace kernels {
namespace {

using Json = nlohmann::ordered_json;

// Seconds with six digits: a list of all ranks stays short.
Json in_microseconds(const std::vector<double>& seconds) {
  Json all = Json::array();
  for (const double each : seconds) all.push_back(std::round(each * 1e6) / 1e6);
  return all;
}

Json to_json(const Access& access) {
  Json phases = Json::object();
  for (const Phase& phase : access.times.phases) {
    phases[phase.name] = {{"least", phase.least}, {"most", phase.most}};
    if (!phase.ranks.empty()) phases[phase.name]["ranks"] = in_microseconds(phase.ranks);
  }
  Json all = {{"access", access.name},
              {"repetition", access.repetition},
              {"bytes", access.bytes},
              {"calls", access.calls},
              {"block_bytes", access.block_bytes},
              {"transfer_bytes", access.transfer_bytes},
              {"seconds", access.seconds},
              {"original_name", access.original},
              {"rate_mib_s", access.mib_per_second()},
              {"rate", access.rate()},
              {"unit", access.unit == Unit::mebibytes ? "MiB/s" : "ops/s"},
              {"first_done_s", access.times.first},
              {"last_done_s", access.times.last},
              {"phases_s", phases}};
  if (!access.latency.empty()) {
    all["latency_ns"] = Json::object();
    for (const auto& [name, nanoseconds] : access.latency) all["latency_ns"][name] = nanoseconds;
  }
  return all;
}

Json to_json(const Check& check) {
  return {{"repetition", check.repetition},
          {"bytes", check.bytes},
          {"wrong", check.wrong},
          {"first_wrong", check.first_wrong}};
}

void print_json(const Report& report, int64_t memory) {
  Json parameters = Json::object();
  for (const Parameter& each : report.parameters)
    parameters[each.name] = each.is_text ? Json(each.text) : Json(each.number);
  Json accesses = Json::array();
  for (const Access& access : report.accesses) accesses.push_back(to_json(access));
  Json checks = Json::array();
  for (const Check& check : report.checks) checks.push_back(to_json(check));
  const Json all = {{"kernel", job().kernel},     {"version", CAIRN_VERSION},
                    {"command", job().command},   {"mpi", job().mpi},
                    {"ranks", job().ranks},       {"nodes", job().nodes},
                    {"api", report.api},          {"parameters", parameters},
                    {"hints", report.hints},      {"ignored_options", ignored_options()},
                    {"accesses", accesses},       {"checks", checks},
                    {"valid", report.valid()},    {"started_s", job().started},
                    {"finished_s", wall_clock()}, {"memory_bytes_per_node", memory}};
  std::printf("%s\n", all.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

// IOR's columns first, under its names; then ours.
void print_csv(const Report& report) {
  std::printf(
      "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),"
      "numTasks,iter,bytes,first(s),last(s)\n");
  for (const Access& access : report.accesses)
    std::printf("%s,%.4f,%.4f,%.6f,%.4f,%.4f,%.6f,%.6f,%.6f,%.6f,%d,%d,%lld,%.6f,%.6f\n",
                access.name.c_str(), access.mib_per_second(), operations_per_second(access),
                latency(access), static_cast<double>(access.block_bytes) / 1024,
                static_cast<double>(access.transfer_bytes) / 1024, access.times.most("open"),
                transfer_seconds(access), access.times.most("close"), access.seconds, job().ranks,
                access.repetition, static_cast<long long>(access.bytes), access.times.first,
                access.times.last);
}

void print_wrong(const Report& report) {
  for (const Check& check : report.checks)
    if (check.wrong > 0)
      std::fprintf(stderr, "%s: INVALID: %lld of %lld bytes are wrong: %s\n", job().kernel.c_str(),
                   static_cast<long long>(check.wrong), static_cast<long long>(check.bytes),
                   check.first_wrong.c_str());
}

}  // namespace

int finish(const Report& report, Format format, const std::function<void()>& original) {
  const int64_t memory = memory_of_fullest_node();
  if (job().rank == 0) {
    switch (format) {
      case Format::original:
        original();
        break;
      case Format::ior:
        print_ior_table(report);
        break;
      case Format::json:
        print_json(report, memory);
        break;
      case Format::csv:
        print_csv(report);
        break;
    }
    std::fflush(stdout);
    print_wrong(report);
  }
  MPI_Finalize();
  return report.valid() ? 0 : exit_invalid;
}

}  // namespace kernels
