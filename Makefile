# The front door. `make help` lists what there is; everything real happens in CMake.
#
#   JOBS=N        parallel jobs (default: the number of processors)
#   PREFIX=DIR    where `make install` puts things (default /usr/local; DESTDIR is honoured)
#   DEBUG=1       `make install` also installs the debug information, in files of its own
#   SETUP=no      never install packages
#   MATRIX=NAME   what `make bench` runs: a ready matrix or an absolute path; BENCH="--rounds 3" for options
#   TESTS=REGEX   run only the tests whose names match, e.g. make test TESTS=persist/

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DEBUG =
SETUP ?= yes
TESTS ?= .
# Many tests wait for other processes, so more of them than processors run at a time.
TEST_JOBS ?= $(shell expr $(JOBS) \* 3 / 2)
MATRIX ?= bench
BENCH ?=
CTEST = ctest --output-on-failure --no-tests=error -j $(TEST_JOBS) -R '$(TESTS)'

.PHONY: all setup-build setup-core setup-demo setup-test setup-dev setup-slow help install uninstall wheel demo demo-larger \
	test test-core test-slow test-asan test-tsan test-dev test-clang coverage setup-bench bench bench-example bench-noise bench-results \
	bench-core bench-mpiio bench-palm bench-tiers fuzz format \
	format-check tidy clean

all: setup-build ## build the release preset into build/release
	@scripts/build.sh release $(JOBS) -DCAIRN_TESTS=OFF
	@cat build/release/summary.txt

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup-build:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build
setup-core:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build core
setup-demo:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build demo
setup-bench:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build bench
setup-test:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build test
setup-dev:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build test dev
setup-slow:
	@[ "$(SETUP)" = no ] || scripts/setup.sh build test dev slow

install: setup-build ## build what is not built yet, and install below PREFIX
	@scripts/build.sh --brief release $(JOBS) -DCAIRN_TESTS=OFF
	@scripts/install.sh $(if $(filter 1 yes,$(DEBUG)),--debug) "$(PREFIX)" build/release

uninstall: ## remove what `make install` put below PREFIX
	@scripts/install.sh --uninstall "$(PREFIX)"

wheel: setup-build ## a wheel of the Python package, with the library, in build/wheel
	@scripts/build.sh --brief --target wheel release $(JOBS)
	@mkdir -p build/wheel && cp build/release/wheel/cairn-*.whl build/wheel

demo: setup-demo ## parallel programs with checkpoints, fio, git and SQLite, with and without Cairn
	@echo "make demo: building what the demo shows (about 2 minutes on 2 processors)"
	@scripts/build.sh --brief --target demo release $(JOBS)
	@scripts/demo.sh --page build/demo.html

demo-larger: setup-demo ## checkpoints on a slow file system, and five times as much data as the pool holds
	@echo "make demo-larger: building what the demo shows"
	@scripts/build.sh --brief --target demo release $(JOBS)
	@scripts/demo-larger.sh --page build/demo-larger.html

test: setup-test ## build everything and run all but the slow tests
	@scripts/build.sh release $(JOBS) -DCAIRN_TESTS=ON
	@cd build/release && $(CTEST) -LE slow --no-label-summary

test-core: setup-core ## the unit tests of src: no MPI, 2 minutes with the build
	@scripts/build.sh --target test_core release $(JOBS) -DCAIRN_TESTS=ON
	@cd build/release && $(CTEST) -L core --no-label-summary

test-slow: setup-slow ## the long ones: storms, model exercisers, mutation, NVDIMMs in a virtual machine
	@scripts/build.sh release $(JOBS) -DCAIRN_TESTS=ON
	@cd build/release && $(CTEST) -L slow --no-label-summary

# `make test` with another preset: dev and clang treat warnings as errors, asan and tsan sanitize.
# ThreadSanitizer's runtime cannot be preloaded into programs that were built without it, as the adapter's
# tests and those of `cairn run` need.
beyond_tsan = |adapter|bench|cli
test-dev test-clang test-asan test-tsan: test-%: setup-dev
	@scripts/build.sh $* $(JOBS)
	@cd build/$* && $(CTEST) -LE 'slow|structure$(beyond_$*)' --no-label-summary

coverage: setup-dev ## line coverage of src/, report in build/coverage/report
	@scripts/build.sh coverage $(JOBS)
	@scripts/coverage.sh $(JOBS)

# What `cairn bench` runs, without the tests and the judged tables.
bench: setup-bench ## ior, hacc, vpic and loop on Cairn, tmpfs, disk and ROMIO, as a page: MATRIX, BENCH for options
	@echo "make bench: building what the benchmarks run"
	@scripts/build.sh --brief --target benchmarks release $(JOBS)
	@mkdir -p build/bench
	@cd build/bench && ../release/bin/cairn bench run $(MATRIX) $(BENCH)

bench-example: setup-bench ## the example report in docs/results/example, on a quiet machine: MATRIX=tokio-abc-small
	@scripts/build.sh --brief --target benchmarks release $(JOBS)
	@scripts/bench_example.sh

bench-noise: setup-bench ## how often equal systems are called different: docs/results/noise.md, on a quiet machine
	@scripts/build.sh --brief --target benchmarks release $(JOBS)
	@scripts/bench_noise.sh

# The judged tables join the results of `make bench`: build/bench/bench-results/judged, and their pages.
judged = build/release/bin/cairn bench add build/bench/bench-results/judged
define judge
	@mkdir -p build/bench
	@$(3) build/release/bench/bench_$(1) --json build/bench/$(1).json $(2); code=$$?; \
	  [ $$code -gt 1 ] || $(judged) build/bench/$(1).json; exit $$code
endef

bench-core: setup-test ## the data path against copying, judged against its bars
	@scripts/build.sh --target judged release $(JOBS)
	@[ -x build/release/bench/bench_core ] || { echo "make bench-core: bench/programs/bench_core.cc is missing"; exit 1; }
	$(call judge,core)

bench-tiers: setup-test ## drains while a program runs, and more data than the pool holds
	@scripts/build.sh --target judged release $(JOBS)
	$(call judge,tiers)

bench-mpiio: setup-test ## MPI-IO against copying and the MPIs' own, judged against its bars
	@scripts/build.sh --target judged release $(JOBS)
	$(call judge,mpiio)

adios2 := build/bench/adios2
bench-palm: setup-test ## PALM's restart data: Cairn, stream files, MPI-IO, HDF5 and ADIOS2 side by side; BENCH=--full for 2 GB
	@scripts/build.sh --target judged release $(JOBS)
	@mkdir -p build/bench
	@[ -d $(adios2)/adios2 ] || python3 -m pip install -q --no-deps --target $(adios2) 'adios2>=2.12,<2.13' \
	  || echo "bench-palm: without ADIOS2, which pip could not install from PyPI"
	$(call judge,palm,$(BENCH),[ ! -d $(adios2)/adios2 ] || export CAIRN_ADIOS2=$(CURDIR)/$(adios2)/adios2;)

# bench_remote needs several hosts, and bench_scale has no bars.
results := docs/results/judged
judged_tables := core adapter programs mpiio palm tiers
bench-results: setup-test ## all judged tables, as the page docs/results/judged, on a quiet machine
	@scripts/build.sh --target judged release $(JOBS)
	@mkdir -p build/bench $(results)
	@for name in $(judged_tables); do \
	  build/release/bench/bench_$$name --json build/bench/$$name.json; [ $$? -le 1 ] || exit 1; done
	@cp $(judged_tables:%=build/bench/%.json) $(results)
	@PYTHONPATH=bench/python python3 -B scripts/judged_page.py $(results) > build/bench/judged.md
	@mv build/bench/judged.md $(results)/README.md
	@$(judged) $(judged_tables:%=build/bench/%.json)

fuzz: setup-dev ## build the fuzz targets into build/fuzz/fuzz
	@scripts/build.sh fuzz $(JOBS)

SOURCES = $(shell git ls-files --cached --others --exclude-standard -- '*.cc' '*.h' '*.hpp' '*.c')
format: setup-dev ## clang-format all sources in place
	@clang-format -i $(SOURCES)
format-check: setup-dev ## say which sources clang-format would change
	@clang-format --dry-run -Werror $(SOURCES)

tidy: setup-dev ## clang-tidy all sources; warnings are errors
	@scripts/build.sh clang $(JOBS)
	@git ls-files --cached --others --exclude-standard -- 'src/*.cc' 'adapters/*.cc' 'cli/*.cc' \
	  | grep -v _test.cc | xargs -r -n 4 -P $(JOBS) clang-tidy -p build/clang --quiet

clean: ## remove build/
	rm -rf build
