#include "crash/try_history.h"

namespace cairn::test {

std::string try_power_losses(const History& history, const LabOptions& options, uint64_t* images) {
  LabOptions mine = options;
  mine.processes = history.processes;
  CrashLab lab(mine);
  history.prepare(lab);
  lab.begin();
  history.run(lab);
  std::string wrong = lab.power_losses();
  if (!wrong.empty()) wrong += "\n" + lab.simulator().describe_image();
  *images += lab.images();
  return wrong;
}

std::string try_kills(const History& history, const LabOptions& options, uint64_t* images) {
  LabOptions mine = options;
  mine.processes = history.processes;
  CrashLab lab(mine);
  history.prepare(lab);
  lab.begin();
  history.run(lab);
  const std::string wrong = lab.kills();
  *images += lab.images();
  return wrong;
}

}  // namespace cairn::test
