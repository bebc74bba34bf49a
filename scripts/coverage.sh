#!/usr/bin/env bash
# scripts/coverage.sh JOBS: runs the tests of build/coverage and reports the line coverage of src/.
# Fails below nine lines in ten. What is left are mostly the ways of real devices (dax, protection
# keys), which only the slow tests' virtual machine has, and a system's refusals that cannot be
# provoked.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-2}
find build/coverage -name '*.gcda' -delete
(cd build/coverage && ctest --output-on-failure -j "$jobs" -LE 'slow|structure' --no-label-summary)
mkdir -p build/coverage/report
status=0
gcovr --fail-under-line 90 --root . --object-directory build/coverage -j "$jobs" \
  --filter 'src/' --exclude '.*_test\.cc$' --gcov-ignore-parse-errors \
  --txt build/coverage/report/lines.txt --json-summary build/coverage/report/summary.json \
  --html-details build/coverage/report/index.html --print-summary || status=$?
cat build/coverage/report/lines.txt
exit $status
