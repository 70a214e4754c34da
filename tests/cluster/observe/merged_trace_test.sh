#!/usr/bin/env bash
# merged_trace_test.sh EVENTS MERGE CHECK: traces of real programs are merged into a valid trace, with a
# lane group and loots for each rank.
set -euo pipefail
events=$1 merge=$2 check=$3
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd -- "$work"
export FILCH_WATCHDOG_MS=0 FILE=none

command -v python3 >/dev/null || { echo "skipped: python3 is not installed" && exit 77; }

fail() {
    printf 'FAILED: %s\n' "$1" >&2
    exit 1
}

# Three ranks with different numbers of workers, at the same time.
for rank in 0 1 2; do
    FILCH_WORKERS=$((rank + 1)) FILCH_TRACE=trace.$rank.json "$events" talk >/dev/null &
    pids[rank]=$!
done
for rank in 0 1 2; do wait "${pids[rank]}" || fail "talk of rank $rank"; done

"$merge" merged.json trace.0.json trace.1.json trace.2.json 2>output || fail "merge: $(cat output)"
[ ! -s output ] || fail "unexpected output: $(cat output)"
python3 "$check" merged.json workers=6 overwritten=no slice='the job' slice='loot to rank 1' slice='gift from rank 0' \
    from='loot to rank 1' to='loot from rank 0' from='loot to rank 0' to='loot from rank 2'

# Each event of a rank is in the merged file, at its time.
python3 - <<'END' || fail 'events of ranks'
import json

merged = json.load(open("merged.json"))
groups = {e["pid"]: e["args"]["name"] for e in merged["traceEvents"] if e["name"] == "process_name"}
for rank in range(3):
    assert groups[2 * rank + 1] == f"rank {rank} on node7: workers", groups
    assert groups[2 * rank + 2] == f"rank {rank} on node7: fibers that wait", groups
assert len(groups) == 6, groups
assert merged["otherData"]["loots"] == 60 and merged["otherData"]["ranks"] == 3


def timed(trace, pids):
    return [e for e in trace["traceEvents"] if e["pid"] in pids and "ts" in e and e.get("cat") != "loot"]


first = json.load(open("trace.0.json"))["otherData"]["start ns"]
for rank in range(3):
    own = json.load(open(f"trace.{rank}.json"))
    pids = {e["pid"] for e in own["traceEvents"]}
    a, b = timed(own, pids), timed(merged, (2 * rank + 1, 2 * rank + 2))
    assert len(a) == len(b) > 20, (len(a), len(b))
    shift = (own["otherData"]["start ns"] - first) / 1000 + 1e9
    for x, y in zip(a, b):
        same = ("ph", "name", "tid", "args", "cname", "s", "bp")
        assert all(x.get(k) == y.get(k) for k in same), (x, y)
        assert abs(x["ts"] + shift - y["ts"]) < 0.01 + x["ts"] * 1e-3, (x, y, shift)
END

# A truncated file and a missing one.
head -c 5000 trace.1.json >cut.json
"$merge" merged.json trace.0.json cut.json missing.json 2>output || fail "merge with damage"
grep -q '^filch: FILCH_TRACE: the trace of rank 1 (node7, pid 1001) has no end; ' output || fail "truncated: $(cat output)"
grep -q '^filch: FILCH_TRACE: rank 2 (node7, pid 1002) wrote no trace; ' output || fail "missing: $(cat output)"
[ "$(wc -l <output)" -eq 2 ] || fail "one message each: $(cat output)"
python3 - <<'END' || fail 'valid JSON'
import json

events = json.load(open("merged.json"))["traceEvents"]
starts = {e["id"]: e for e in events if e["ph"] == "s" and e["cat"] == "loot"}
ends = {e["id"]: e for e in events if e["ph"] == "f" and e["cat"] == "loot"}
assert starts.keys() == ends.keys() and len(starts) == 60
assert all(starts[i]["ts"] < ends[i]["ts"] for i in starts)
END
echo "merged traces of 3 ranks"
