#!/usr/bin/env bash
# scripts/coverage.sh JOBS: runs the tests of build/coverage and reports the line coverage of src/.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-2}
find build/coverage -name '*.gcda' -delete
(cd build/coverage && ctest --output-on-failure -j "$jobs" -LE 'slow|house' --no-label-summary)
mkdir -p build/coverage/report
gcovr --root . --object-directory build/coverage -j "$jobs" \
  --filter 'src/' --exclude '.*_test\.cc$' --gcov-ignore-parse-errors \
  --txt build/coverage/report/lines.txt --json-summary build/coverage/report/summary.json \
  --html-details build/coverage/report/index.html --print-summary
cat build/coverage/report/lines.txt
