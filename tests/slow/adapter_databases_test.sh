#!/usr/bin/env bash
# Databases that map their files, cut them while they are mapped, and share them between processes:
# the same answers as in a plain directory. PostgreSQL is also stopped without a checkpoint, and
# goes on from its log, in the cover and below it.
# shellcheck source=tests/adapter/both.sh
source "$(dirname "$0")/../adapter/both.sh"
cairn=${CAIRN_BIN_DIR:-}/cairn
postgres=$(find /usr/lib/postgresql -name initdb -printf '%h\n' 2> /dev/null | tail -n 1)
[ -n "$postgres" ] && /usr/bin/python3 -c 'import lmdb, plyvel' ||
  { echo "PostgreSQL, LMDB or LevelDB is not installed"; exit 77; }

cat > "$scratch/databases.py" << 'END_OF_PYTHON'
import contextlib, hashlib, os, random, sqlite3
import lmdb, plyvel

random.seed(int(os.environ["SEED"]))

def digest(pairs):
    sum = hashlib.sha256()
    for key, value in pairs:
        sum.update(key + b"=" + value + b"\n")
    return sum.hexdigest()

for name, options in (("plain", {}), ("mapped", {"writemap": True}),
                      ("async", {"writemap": True, "map_async": True})):
    os.makedirs("copy-" + name)
    with lmdb.open(name, map_size=1 << 27, **options) as database:
        for _ in range(20):
            with database.begin(write=True) as change:
                for _ in range(400):
                    change.put(b"%08d" % random.randrange(20000),
                               random.randbytes(random.randrange(300)))
                for _ in range(100):
                    change.delete(b"%08d" % random.randrange(20000))
        with database.begin() as reader:
            print("LMDB", name, digest(reader.cursor()))
        database.copy("copy-" + name, compact=True)
    with lmdb.open("copy-" + name, readonly=True) as copy, copy.begin() as reader:
        print("its copy", digest(reader.cursor()))

with contextlib.closing(
        plyvel.DB("level", create_if_missing=True, write_buffer_size=1 << 18)) as database:
    for i in range(40000):
        database.put(b"%d" % random.randrange(9000), b"%d" % i * 20)
    database.compact_range()
    print("LevelDB", digest(database))
plyvel.repair_db("level")
with contextlib.closing(plyvel.DB("level")) as database:
    print("repaired", digest(database))

# The file is cut at the end of each change, while the other connection, of another process, has all
# of it mapped.
def connect():
    connection = sqlite3.connect("mapped.db")
    for pragma in ("auto_vacuum=full", "mmap_size=268435456"):
        connection.execute("pragma " + pragma).fetchall()
    return connection

writer = connect()
writer.execute("create table t(a, b)")
writer.commit()
ask, asked = os.pipe(), os.pipe()
if os.fork() == 0:
    reader = connect()
    while os.read(ask[0], 1) == b"?":
        answer = reader.execute("select count(*), total(a), max(b) from t").fetchone()
        check = reader.execute("pragma integrity_check").fetchone()
        os.write(asked[1], f"{answer} {check}".encode().ljust(200))
    os._exit(0)
for turn in range(12):
    writer.executemany("insert into t values(?, ?)", [(i, f"{turn}-{i}" * 20) for i in range(2000)])
    writer.commit()
    os.write(ask[1], b"?")
    print("SQLite", os.read(asked[0], 200).decode().rstrip())
    writer.execute("delete from t where a % 2 = 0 or a > ?", (turn * 150,))
    writer.commit()
    os.write(ask[1], b"?")
    print("SQLite", os.read(asked[0], 200).decode().rstrip())
os.write(ask[1], b".")
os.wait()
writer.close()
END_OF_PYTHON
export SEED=${CAIRN_TEST_SEED:-$RANDOM}
echo "seed $SEED"
# These hold addresses and times, and what threads did in the background.
both "/usr/bin/python3 $scratch/databases.py && rm -r */lock.mdb level" 1024
cat "$scratch/covered.out"

# PostgreSQL does not run as root.
who=$([ "$(id -u)" = 0 ] && echo nobody || id -un)
as_user() { if [ "$who" = nobody ]; then runuser -u nobody -- "$@"; else "$@"; fi; }
mkdir "$scratch/pg" "$scratch/pg/pools" "$scratch/pg/data"
chmod 755 "$scratch" "$scratch/pg"
chown -R "$who" "$scratch/pg"
cat > "$scratch/pg.sh" << 'END_OF_SCRIPT'
set -euo pipefail
cd "$SCRATCH/pg"
data=data/base
run() {
  "$POSTGRES/pg_ctl" -s -D $data -o "-k $SCRATCH/pg -c listen_addresses=''" \
    -l "$SCRATCH/pg/log" -w "$@"
}
trap 'run stop -m immediate 2> /dev/null || true' EXIT
ask() { "$POSTGRES/psql" -h "$SCRATCH/pg" -U postgres -qAt "$@"; }
if [ "$1" = fill ]; then
  "$POSTGRES/initdb" -D $data -U postgres -A trust > initdb.out 2>&1
  run start
  "$POSTGRES/pgbench" -h "$SCRATCH/pg" -U postgres -i -s 2 -q postgres > initialize.out 2>&1
  "$POSTGRES/pgbench" -h "$SCRATCH/pg" -U postgres -c 4 -t 200 postgres 2>&1 | grep failed
  ask -c "vacuum full" -c "reindex database postgres" \
    -c "create database two template postgres" -c "drop database two" \
    -c "create table more as
          select i, repeat('x', i % 3000) as x from generate_series(1, 20000) i" \
    -c "delete from more where i % 3 = 0" -c checkpoint -c "vacuum more" -c "update more set i = -i"
  run stop -m immediate
fi
run start
ask -c "select count(*), sum(abalance) = (select sum(tbalance) from pgbench_tellers)
          from pgbench_accounts" \
  -c "select count(*), sum(i), sum(length(x)) from more"
run stop -m fast
"$POSTGRES/pg_controldata" $data | grep state
END_OF_SCRIPT
export SCRATCH=$scratch POSTGRES=$postgres
chmod 644 "$scratch/pg.sh"
expected="200000|t
13334|-133346667|19334667
Database cluster state:               shut down"
covered_answer=$(as_user "$cairn" run --at "$scratch/pg/data" --pool-dir "$scratch/pg/pools" \
  --pool-size 1G -- bash "$scratch/pg.sh" fill)
echo "$covered_answer"
[ "$(tail -n 3 <<< "$covered_answer")" = "$expected" ] || { cat "$scratch/pg/log"; exit 1; }
[ "$(as_user bash "$scratch/pg.sh" look)" = "$expected" ] ||
  { echo "not what was drained"; cat "$scratch/pg/log"; exit 1; }
