#include "machine/own_size_limit.h"

#include <sys/resource.h>

#include <csignal>

namespace cairn::cli {
namespace {

rlimit before{RLIM_INFINITY, RLIM_INFINITY};
struct sigaction handling_before {};

}  // namespace

void raise_own_size_limit() {
  if (getrlimit(RLIMIT_FSIZE, &before) != 0 || before.rlim_cur == RLIM_INFINITY) return;
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  const rlimit most{before.rlim_max, before.rlim_max};
  // The hard limit binds all processes but privileged ones.
  if (setrlimit(RLIMIT_FSIZE, &none) != 0) setrlimit(RLIMIT_FSIZE, &most);
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &ignore, &handling_before);
}

void restore_size_limit() {
  if (before.rlim_cur == RLIM_INFINITY) return;
  setrlimit(RLIMIT_FSIZE, &before);
  sigaction(SIGXFSZ, &handling_before, nullptr);
}

}  // namespace cairn::cli
