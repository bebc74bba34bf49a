#include "media/devdax.h"

#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace cairn::media {
namespace {

constexpr uint64_t default_align = uint64_t{2} << 20;

std::string real_path(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? std::string(resolved) : std::string();
}

std::string last_part(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string parent(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

std::string device_link(const char* kind, dev_t number) {
  return std::string("/sys/dev/") + kind + "/" + std::to_string(major(number)) + ":" +
         std::to_string(minor(number));
}

uint64_t read_number(const std::string& path) {
  std::string text = read_line(path);
  return text.empty() ? 0 : std::strtoull(text.c_str(), nullptr, 0);
}

// Returns true if the region above a dax device has the CPU's caches inside the persistence domain.
bool cache_is_safe(std::string directory) {
  while (directory.size() > 1) {
    std::string domain = read_line(directory + "/persistence_domain");
    if (!domain.empty()) return domain == "cpu_cache";
    directory = parent(directory);
  }
  return false;
}

Status refuse_mode(const char* path, const std::string& name, const std::string& driver) {
  if (driver == "kmem") {
    return fail(
        ENODEV,
        "%s: the device is in system-ram mode (its memory belongs to the kernel); change it "
        "with: daxctl reconfigure-device --mode=devdax %s",
        path, name.c_str());
  }
  if (driver == "fsdev_dax") {
    return fail(
        ENODEV,
        "%s: the device is in fsdev_dax mode (kept for a file system); change it with: daxctl "
        "reconfigure-device --mode=devdax %s",
        path, name.c_str());
  }
  if (driver.empty()) {
    return fail(ENODEV,
                "%s: the device is disabled (no driver); enable it with: daxctl enable-device %s",
                path, name.c_str());
  }
  return fail(ENODEV,
              "%s: the device is bound to the driver %s, which cannot be mapped; change it with: "
              "daxctl reconfigure-device --mode=devdax %s",
              path, driver.c_str(), name.c_str());
}

}  // namespace

Result<DaxDevice> inspect_dax(dev_t number, const char* path, const SystemRoot& root) {
  std::string directory = real_path(root.path(device_link("char", number)));
  std::string subsystem = last_part(real_path(directory + "/subsystem"));
  if (directory.empty() || subsystem != "dax") {
    return fail(ENODEV, "%s: a character device, but not a dax device; daxctl list shows those",
                path);
  }
  DaxDevice device;
  device.name = last_part(directory);
  std::string driver = last_part(real_path(directory + "/driver"));
  if (driver != "device_dax") return refuse_mode(path, device.name, driver);
  device.size = read_number(directory + "/size");
  device.align = read_number(directory + "/align");
  // Kernels before 5.10 keep the alignment with the device's region.
  if (device.align == 0) device.align = read_number(parent(directory) + "/dax_region/align");
  if (device.align == 0) device.align = default_align;
  device.cache_is_safe = cache_is_safe(directory);
  if (device.size < device.align) {
    return fail(ENOSPC, "%s: the device has %llu bytes, less than one mapping of %llu", path,
                static_cast<unsigned long long>(device.size),
                static_cast<unsigned long long>(device.align));
  }
  return device;
}

Status refuse_block_device(dev_t number, const char* path, const SystemRoot& root) {
  std::string directory = real_path(root.path(device_link("block", number)));
  std::string owner = last_part(real_path(directory + "/device"));
  std::string mode = read_line(directory + "/device/mode");
  if (owner.compare(0, 9, "namespace") == 0 || owner.compare(0, 3, "pfn") == 0 ||
      owner.compare(0, 3, "btt") == 0) {
    std::string name = owner.compare(0, 9, "namespace") == 0 ? owner : "NAMESPACE";
    return fail(EOPNOTSUPP,
                "%s: persistent memory as a block device%s%s; mount a file system from it with -o "
                "dax=always and give a directory there, or turn it into a dax device (its contents "
                "are lost) with: ndctl create-namespace -f -e %s --mode=devdax",
                path, mode.empty() ? "" : ", mode ", mode.c_str(), name.c_str());
  }
  return fail(EOPNOTSUPP, "%s: a block device; give a directory on a file system that lies on it",
              path);
}

}  // namespace cairn::media
