#!/usr/bin/env bash
# Calls of every kind, one after the other: the same results as in a plain directory.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/both.sh"
calls=$CAIRN_TEST_DIR/adapter/calls
for part in data opening duplicates splices; do both "$calls/data_program $part"; done
for part in names attributes directories extended; do both "$calls/names_program $part"; done
for part in mappings growing replacing protecting locking testing waiting; do
  both "$calls/memory_program $part"
done
# AddressSanitizer puts functions of its own under fopencookie's, which a stream that becomes
# another one loses.
[[ "${CAIRN_SANITIZE:-}" = *address* ]] || both "$calls/streams_program reopened"
for part in mounts streams standard printed wide; do both "$calls/streams_program $part"; done
for part in makers owners bytes walks groups linking moving openers atime; do
  both "$calls/permissions_program $part"
done
for part in processes many exhausted limited; do both "$calls/processes_program $part"; done
for part in writes appends lengths copies streams ends; do both "$calls/limits_program $part"; done
# gcov writes longer files.
[ -n "${CAIRN_COVERAGE:-}" ] || both 'ulimit -f 8
  for i in 1 2; do (trap "" XFSZ; seq 1 5000 >> numbers); echo $?; wc -c < numbers; done'
both "ulimit -n 64; $calls/processes_program exhausted"
both "ulimit -f 1024; $calls/processes_program limited"
# Programs that are given an environment of their own, with a covered working directory and an open
# file.
both 'echo text > f; exec 3< f; env -i "$(type -P env)"; env -i A=b "$(type -P env)"'
# Programs of more than the limit: they are not written.
both 'cp "$(type -P echo)" large; truncate -s 2M large
  ulimit -S -f 1024; ./large ran; ulimit -S -f'
both 'cp "$(type -P echo)" large; truncate -s 2M large
  ulimit -f 1024; ./large ran > said 2>&1; [ $? -lt 128 ] && echo ended; rm said'
for part in single moving pairs flags lengths bases ranges configured odd; do
  both "$calls/errors_program $part"
done
for part in descriptors itself limits; do both "$calls/descriptors_program $part"; done
for part in files names old; do both "$calls/times_program $part"; done
for part in numbers entries modes; do both "$calls/numbers_program $part"; done
for part in paths places others; do both "$calls/pointers_program $part"; done
for part in requests masks threads; do both "$calls/requests_program $part"; done
both "$calls/fts_program trees"
both "$calls/patterns_program patterns"
for part in fifos sockets addresses families waited carried nameless once walking; do
  both "$calls/special_program $part"
done
for part in words paths deep controls asynchronous waits opens resolved; do
  both "$calls/others_program $part"
done
for part in paths again lost; do both "$calls/itself_program $part"; done
both "$CAIRN_TEST_DIR/adapter/handed_program"
both "$CAIRN_TEST_DIR/adapter/kept_streams_program one two; cat one two"
echo "calls: as on a plain directory"
