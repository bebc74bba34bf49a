#!/usr/bin/env bash
# shellcheck disable=SC2034  # lists are reached by name: debian_$group, dnf_$group, spack_$group
# Installs what Cairn needs to be built, tested and worked on, where it is missing.
#
#   scripts/setup.sh [--list] [GROUP...]
#
# Groups: build core demo bench test dev slow; default: build test.
#
# Debian and Ubuntu: installs through apt-get, as root or with sudo; fast and silent when everything
# is there. Elsewhere it names the packages for dnf and Spack and stops. --list prints the packages
# of the groups, one per line, and installs nothing.
set -euo pipefail

# What the build cannot do without, and the libraries that src/, cli/ and bench/ link.
debian_build=(
  make cmake ninja-build g++ pkg-config
  libcli11-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev
  libpmem-dev libpmem2-dev libisal-dev
)
# What `make test-core` needs: the unit tests of src/.
debian_core=(libgtest-dev)
# What the demo runs: an MPI and unchanged programs.
debian_demo=(
  python3 git sqlite3 fio openmpi-bin libopenmpi-dev
)
# What `cairn bench` needs: both MPIs, parallel HDF5, and Python modules; rich draws its progress
# bar.
debian_bench=(
  python3 python3-yaml python3-jsonschema python3-rich
  openmpi-bin libopenmpi-dev mpich libmpich-dev libhdf5-openmpi-dev libhdf5-mpich-dev
)
# What the tests run besides: test frameworks, the demo's programs, readers of exported checkpoints
# and others.
debian_test=(
  "${debian_core[@]}" "${debian_demo[@]}" "${debian_bench[@]}"
  libbenchmark-dev rsync tar attr procps gfortran strace valgrind
  iproute2 util-linux python3-numpy python3-mpi4py
  hdf5-tools netcdf-bin python3-h5py python3-netcdf4 python3-xarray
)
# What `make test-asan`, `format`, `tidy`, `coverage` and `fuzz` want.
debian_dev=(
  clang clang-tidy clang-format libclang-rt-14-dev ccache gcovr shellcheck
)
# What `make test-slow` needs besides: a virtual machine with NVDIMMs (testbeds/nvdimm-vm), whose
# kernel is downloaded by the script itself and never installed, virtual environments with other
# MPIs, large unchanged programs, and what it takes to build the tests of HDF5, PnetCDF and netCDF;
# debootstrap unpacks a later Debian for its PyTorch.
debian_slow=(
  qemu-system-x86 busybox-static ndctl daxctl e2fsprogs python3-venv
  python3-h5py python3-h5py-mpi python3-mpi4py hdf5-tools python3-netcdf4
  stress-ng dbench bonnie++ fsmark ruby
  postgresql python3-lmdb python3-plyvel
  chromium slurm-wlm slurm-wlm-basic-plugins munge libpmix2
  libnetcdf-mpi-dev zlib1g-dev dpkg-dev autoconf automake libtool m4
  debootstrap
)

# Test suites of file systems, for whoever has cargo; their test is not run where they are missing.
crates_slow=(fsx@0.3.2 pjdfstest@0.2.2)

dnf_build="make cmake ninja-build gcc-c++ libstdc++-static pkgconf-pkg-config cli11-devel fmt-devel
  yaml-cpp-devel json-devel libpmem-devel libpmem2-devel isa-l-devel"
dnf_core="gtest-devel"
dnf_demo="python3 git sqlite fio openmpi-devel"
dnf_bench="python3 python3-pyyaml python3-jsonschema python3-rich openmpi-devel mpich-devel
  hdf5-openmpi-devel hdf5-mpich-devel"
dnf_test="$dnf_core $dnf_demo $dnf_bench google-benchmark-devel rsync tar attr procps-ng
  gcc-gfortran strace valgrind iproute util-linux python3-numpy python3-mpi4py-openmpi
  hdf5 netcdf python3-h5py python3-netcdf4 python3-xarray"
dnf_dev="clang clang-tools-extra compiler-rt libasan libubsan libtsan ccache gcovr ShellCheck"
dnf_slow="qemu-system-x86-core busybox ndctl daxctl e2fsprogs python3-h5py python3-h5py-openmpi
  python3-mpi4py-openmpi hdf5 python3-netcdf4 stress-ng dbench bonnie++ fs_mark ruby
  postgresql-server python3-lmdb python3-plyvel chromium slurm slurm-slurmctld slurm-slurmd munge
  debootstrap"
spack_build="cmake ninja pkgconf cli11 fmt yaml-cpp nlohmann-json pmdk isa-l"
spack_core="googletest"
spack_demo="python git sqlite fio openmpi"
spack_bench="python py-pyyaml py-jsonschema py-rich openmpi mpich hdf5+mpi"
spack_test="$spack_core $spack_demo $spack_bench benchmark py-numpy py-mpi4py rsync iproute2 hdf5
  strace valgrind
  netcdf-c py-h5py py-netcdf4 py-xarray"
spack_dev="llvm ccache py-gcovr shellcheck"
spack_slow="qemu ndctl e2fsprogs py-h5py py-mpi4py py-netcdf4 stress-ng dbench bonnie fsmark ruby
  postgresql py-lmdb"

list_only=false
groups=()
for argument in "$@"; do
  case $argument in
    --list) list_only=true ;;
    build | core | demo | bench | test | dev | slow) groups+=("$argument") ;;
    -h | --help)
      sed -n '4,9s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "setup.sh: unknown argument '$argument'" \
      "(groups are build, core, demo, bench, test, dev, slow)" >&2
      exit 2
      ;;
  esac
done
[ ${#groups[@]} -gt 0 ] || groups=(build test)

# Prints the value of variable PREFIX_GROUP for every chosen group.
names_of() {
  local group name
  for group in "${groups[@]}"; do
    name="$1_$group"
    echo "${!name}" | tr -s '[:space:]' ' '
  done
}

packages=()
for group in "${groups[@]}"; do
  declare -n of_group="debian_$group"
  packages+=("${of_group[@]}")
done
# Groups share packages.
mapfile -t packages < <(printf '%s\n' "${packages[@]}" | awk '!seen[$0]++')
if $list_only; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi

if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
  {
    echo "setup.sh installs packages on Debian and Ubuntu only. On this system, install by hand"
    echo "  RHEL, Rocky, Alma, Fedora (with EPEL and CRB):"
    echo "    dnf install $(names_of dnf | tr '\n' ' ')"
    echo "  Spack:"
    echo "    spack install $(names_of spack | tr '\n' ' ')"
    echo "and then call cmake --preset release, or make with SETUP=no."
  } >&2
  exit 1
fi

if [[ " ${groups[*]} " == *" slow "* ]] && command -v cargo > /dev/null; then
  for crate in "${crates_slow[@]}"; do
    cargo install --quiet --locked "$crate" || echo "setup.sh: could not install $crate" >&2
  done
fi

missing=()
for package in "${packages[@]}"; do
  # A virtual or renamed package counts as there when something installed provides it.
  state=$(dpkg-query -W -f '${db:Status-Status}\n' "$package" 2> /dev/null || true)
  case $state in
    *installed*) [[ $state == *not-installed* ]] && missing+=("$package") ;;
    *) missing+=("$package") ;;
  esac
done
# The clang runtime carries its version in its name: any of them will do where 14 is unknown.
for i in "${!missing[@]}"; do
  if [ "${missing[$i]}" = libclang-rt-14-dev ] &&
    compgen -G '/usr/lib/llvm-*/lib/clang/*/lib/linux' > /dev/null; then
    unset 'missing[$i]'
  fi
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "setup.sh: missing packages, and neither root nor sudo to install them: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)

echo "setup.sh: installing ${missing[*]}"
install() {
  "${apt[@]}" install -y --no-install-recommends "${missing[@]}" < /dev/null > "$log" 2>&1
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists may be absent or stale: only then is the slow update worth its time.
if ! install; then
  if ! "${apt[@]}" update > "$log" 2>&1 || ! install; then
    cat "$log" >&2
    echo "setup.sh: could not install ${missing[*]}" >&2
    exit 1
  fi
fi
