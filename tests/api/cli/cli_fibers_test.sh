#!/usr/bin/env bash
# cli_fibers_test.sh FILCH: the table of `filch bench fibers` for small sizes, its statistics of known figures from stub
# programs, and its errors.
set -euo pipefail
filch=$1
# shellcheck source=tests/api/cli/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
programs=${filch%/*}/programs
rows='switch start-batch start-one yield-2 yield-100 rendezvous buffered-1 buffered-4 mutex skynet skynet-join parked timers'

# Usage errors.
rejects 'fibers has its own table and cannot be combined with fib' bench fib fibers
rejects 'fibers has its own table and cannot be combined with jobs' bench jobs fibers
rejects "unknown case 'fib' of fibers; choose from: switch, start-batch," bench fibers fib
rejects "unknown case 'jobs' of fibers" bench fibers jobs
rejects "unknown case '64' of fibers" bench fibers 64
rejects 'fibers is given twice' bench fibers fibers
rejects 'mutex is given twice' bench fibers mutex mutex
rejects '--size does not apply to fibers' bench fibers mutex --size 5
rejects '--plot does not apply to fibers' bench fibers --plot a.svg
rejects '--runtimes does not apply to fibers' bench fibers --runtimes filch
rejects "(got '0')" bench fibers --workers 0
rejects "unknown workload 'mutex'; choose from: fib," bench mutex
runs bench --help
stdout_has 'filch bench fibers [CASE...] [OPTION...]'
for row in $rows http-64 http-1000; do stdout_has "  $row "; done

# Both programs have the same cases and sizes, so that the table compares equal work.
if [ -x "$programs/fibers-go" ]; then
    diff <("$programs/fibers-filch" -h | sed 's/filch/go/g') <("$programs/fibers-go" -h) || fail 'the sizes differ between Filch and Go'
    for words in '-n 0' '-n x' '-w 0' '-r 1001' '-i nosuch' '-n' '-x' 'junk'; do
        for program in fibers-filch fibers-go; do
            # shellcheck disable=SC2086  # words
            stdout=$("$programs/$program" $words 2>"$work/errors") && code=0 || code=$?
            stderr=$(cat -- "$work/errors")
            [ "$code/$(wc -l <"$work/errors")/$stdout" = 2/1/ ] || fail "$program $words"
        done
    done
fi

# JSON lines: the programs count their work, and each metric has a value for each repetition.
# shellcheck disable=SC2086  # words
runs bench fibers $rows --quick --repeat 1 --workers 1,3 --json
# shellcheck disable=SC2086  # words
printf '%s\n' "$stdout" | python3 -c '
import json, sys
special = {"fibers-skynet": {"peak_mb"}, "fibers-skynet-join": {"peak_mb"},
           "fibers-parked": {"bytes", "create_ns", "wake_ns"},
           "fibers-timers": {"cpu_ms", "late_p50_ms", "late_p99_ms"}}
seen, sizes = {}, {}
for line in map(json.loads, sys.stdin):
    name, figures = line["workload"], line["metrics"]
    assert set(figures) == {"cpu_ns", "wall_ns"} | special.get(name, set()), line
    for values in figures.values():
        assert len(values) == len(line["samples"]) and min(values) >= 0, line
    assert min(figures["wall_ns"]) > 0 and line["spawns"] > 0, line
    assert sizes.setdefault(name, (line["size"], line["spawns"], line["result"])) == (
        line["size"], line["spawns"], line["result"]), line
    seen.setdefault(line["runtime"], []).append((name, line["workers"]))
names = ["fibers-" + r for r in sys.argv[2:]]
each = [(n, w) for n in names for w in (1, 3)]
assert seen.pop("filch") == [("switch", 1)] + each, seen
assert seen == ({"go": each} if sys.argv[1] == "yes" else {}), seen
assert sizes["fibers-skynet"] == (4, 11111, 9999 * 10000 // 2), sizes
' "$([ -x "$programs/fibers-go" ] && echo yes || echo no)" ${rows#switch} || fail 'the JSON lines'

# Servers: http-epoll is built if wrk is installed.
if [ -x "$programs/http-epoll" ]; then
    stdout=$("$programs/http-epoll" -q -w 2 -r 1 -i 64) || fail 'http-epoll'
    printf '%s' "$stdout" | python3 -c '
import json, sys
line = json.load(sys.stdin)
assert line["workload"] == "http-64" and line["result"] == 0, line
assert line["metrics"]["cpu_us"][0] > 0 and line["metrics"]["requests_s"][0] > 0, line
' || fail 'the line of http-epoll'
    # A request in pieces is answered once, two in one piece twice.  A killed driver takes its server with it.
    python3 - "$programs" <<'END' || fail 'the servers'
import os, signal, socket, subprocess, sys, time
request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
def answers(c, n):
    text = b""
    while text.count(b"Hello, world!") < n:
        got = c.recv(4096)
        assert got, text
        text += got
    assert text.count(b"HTTP/1.1 200 OK") == n, text
# Bytes that the server has not read: in the sender's socket until they are acknowledged, then in the server's.
def waiting(c):
    here, there = ("0100007F:%04X" % port for port in (c.getsockname()[1], c.getpeername()[1]))
    queues = {(l[1], l[2]): l[4].split(":") for l in map(str.split, open("/proc/net/tcp"))}
    return int(queues[here, there][0], 16) + int(queues.get((there, here), "01")[1], 16)
# The kernel could merge pieces that are sent without a pause.
def wait_until_read(c):
    while waiting(c):
        time.sleep(0.001)
def talk(port):
    c = socket.create_connection(("127.0.0.1", port), timeout=600)
    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for piece in request[:9], request[9:-3], request[-3:-1], request[-1:]:
        c.sendall(piece)
        wait_until_read(c)
    answers(c, 1)
    c.sendall(request + request)
    answers(c, 2)
    c.close()
for name in "epoll", "go-raw", "go", "nginx":
    program = sys.argv[1] + "/httpd-" + name
    if not os.path.exists(program):
        continue
    server = subprocess.Popen([program, "0"], stdout=subprocess.PIPE, text=True)
    try:
        talk(int(server.stdout.readline()))
    finally:  # no server is left behind if the test fails
        server.terminate()
        server.wait()
driver = subprocess.Popen([sys.argv[1] + "/http-epoll", "-n", "60"], stdout=subprocess.DEVNULL)
children = "/proc/%d/task/%d/children" % (driver.pid, driver.pid)
while len(open(children).read().split()) < 2:
    time.sleep(0.01)
pids = open(children).read().split()
driver.kill()
driver.wait()
def gone(pid):
    try:
        return open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True
while not all(map(gone, pids)):
    time.sleep(0.01)  # the test times out if they stay
END
fi

# ---- stub programs with known figures ----
export FILCH_BENCH_DIR=$work/programs
mkdir -- "$FILCH_BENCH_DIR"

# pretend PROGRAM RUNTIME METRICS: write a program that prints these metrics and the requested number of samples.
pretend() {
    cat >"$FILCH_BENCH_DIR/$1-$2" <<END
#!/bin/sh
r=1 w=1 i=
while getopts w:r:i:q o; do eval "\$o=\\\$OPTARG"; done
samples=1
while [ \$r -gt 1 ]; do samples=\$samples,1 r=\$((r - 1)); done
echo "{\"workload\":\"$1\${i:+-}\$i\",\"runtime\":\"$2\",\"compiler\":\"gcc\",\"size\":5,\"workers\":\$w,\"spawns\":5," \
    '"result":7,"peak_kb":100,"metrics":$3,' "\"samples\":[\$samples]}"
END
    chmod +x "$FILCH_BENCH_DIR/$1-$2"
}

# row TEXT: expect this line in the table, with any number of blanks between its words.
row() {
    printf '%s\n' "$stdout" | tr -s ' ' | sed 's/^ //; s/ $//' | grep -Fxq -- "$1" || fail "expected the row: $1"
}

fails 1 bench fibers yield-2
stderr_has 'cannot measure fibers-yield-2: no program fibers-filch in'
[ -z "$stdout" ] || fail 'an empty table is printed'

# Ratios of medians and of best values.  Goals are shown where they exist.  A missing runtime is named.
pretend fibers filch '{"cpu_ns":[10,12,20]}'
pretend fibers go '{"cpu_ns":[40,30,20]}'
runs bench fibers yield-2 rendezvous --workers 1,2,4 --repeat 2
[ -z "$stderr" ] || fail 'prints to stderr without an error'
row 'fibers workers unit filch best go best / go best goal'
row 'yield, 2 fibers 1 ns 12.0 10.0 30.0 20.0 0.40 0.50 10.0'
row '2 ns 12.0 10.0 30.0 20.0 0.40 0.50 -'
row 'rendezvous, both ways 1 ns 12.0 10.0 30.0 20.0 0.40 0.50 45.0'
row '2 ns 12.0 10.0 30.0 20.0 0.40 0.50 60.0'
row '4 ns 12.0 10.0 30.0 20.0 0.40 0.50 -'
case $stdout in *servers\ or*|*small\ sizes*|*http,*) fail 'more than the selected cases is printed' ;; esac
runs bench fibers yield-2 --quick --workers 1 --repeat 1
stdout_has 'These are small sizes'
runs bench fibers yield-2 --workers 1 --repeat 2 --json
stdout_has '"metrics":{"cpu_ns":[10,12,20,10,12,20]},"samples":[1.000000000,'

rm -- "$FILCH_BENCH_DIR/fibers-go"
echo 'go: not installed (Debian: golang-go)' >"$FILCH_BENCH_DIR/left-out"
runs bench fibers yield-2 mutex --workers 1,2 --repeat 1
row 'yield, 2 fibers 1 ns 12.0 10.0 - - - - 10.0'
[ "$(printf '%s\n' "$stdout" | grep -c '^go: not installed (Debian: golang-go)$')" -eq 1 ] || fail 'go is not named once'
runs bench fibers yield-2 --workers 1 --repeat 1 --json
stderr_has 'go: not installed (Debian: golang-go)'

# Several metrics of one workload.
pretend fibers filch '{"bytes":[4300],"create_ns":[2200.4],"wake_ns":[199.6],"cpu_ns":[1],"wall_ns":[1]}'
runs bench fibers parked --workers 1 --repeat 1
row 'parked fiber 1 bytes 4300 4300 - - - - 4300'
row 'start and park 1 ns 2200 2200 - - - - 2200'
row 'wake and end 1 ns 200 200 - - - - 200'

# Servers, compared with the epoll loop.
echo 'http: wrk is not installed' >>"$FILCH_BENCH_DIR/left-out"
runs bench fibers http-64 parked --workers 2 --repeat 1
stdout_has 'http: wrk is not installed'
[ "$(printf '%s\n' "$stdout" | grep -c 'wrk is not installed')" -eq 1 ] || fail 'the missing wrk is named more than once'
pretend http epoll '{"cpu_us":[4],"requests_s":[1000]}'
pretend http filch '{"cpu_us":[5],"requests_s":[900]}'
pretend http nginx '{"cpu_us":[6],"requests_s":[800]}'
echo 'go-raw: not supported here' >>"$FILCH_BENCH_DIR/left-out"
sed -i '/^http:/d' "$FILCH_BENCH_DIR/left-out"
runs bench fibers http-64 http-1000 --workers 2 --repeat 1
row '64 connections 2 filch 5.00 5.00 1.25 1.25 900 8.2'
row '1,000 connections 2 filch 5.00 5.00 1.25 1.25 900 8.7'
row '2 epoll 4.00 4.00 1.00 1.00 1000'
row '2 nginx 6.00 6.00 1.50 1.50 800'
stdout_has 'go-raw: not supported here'
rm -- "$FILCH_BENCH_DIR/http-filch"
echo 'http-filch: not yet' >>"$FILCH_BENCH_DIR/left-out"
runs bench fibers http-64 --workers 2 --repeat 1
stdout_has "filch's server: not yet"

# Invalid metrics.
for figures in 5 '[1,2,3]' '{"cpu_ns":5}' '{"cpu_ns":[]}' '{"cpu_ns":[1,2]}' '{"cpu_ns":[1,2,"x"]}' \
    '{"cpu_ns":[1,2,1e999]}' '{"a_name_without_end":[1,2,3]}' '{"cpu_ns":[1,2,3],"b":[1]}' \
    '{"a":[1,2,3],"b":[1,2,3],"c":[1,2,3],"d":[1,2,3],"e":[1,2,3],"f":[1,2,3],"g":[1,2,3],"h":[1,2,3],"i":[1,2,3]}'; do
    pretend fibers filch "$figures"
    fails 1 bench fibers yield-2 --workers 1 --repeat 1
    stderr_has 'fibers-filch (1 worker) printed an invalid report'
    row 'yield, 2 fibers 1 failed'
done

# A failure is reported, and the other results are shown.
pretend fibers filch '{"cpu_ns":[10,12,20]}'
printf '#!/bin/sh\necho lost a fiber >&2\nexit 1\n' >"$FILCH_BENCH_DIR/fibers-go"
chmod +x "$FILCH_BENCH_DIR/fibers-go"
fails 1 bench fibers yield-2 --workers 1 --repeat 1
stderr_has 'filch: fibers-go (1 worker) exited with 1: lost a fiber'
row 'yield, 2 fibers 1 ns 12.0 10.0 - - - - 10.0'
printf 'filch bench fibers passed\n'
