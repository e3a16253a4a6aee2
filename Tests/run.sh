#!/usr/bin/env bash
# Runs tests that have been built, and ends them if they hang: then the stacks of all threads are printed, and the names of the tests
# that were running.
#
#   Tests/run.sh SCRATCH [ARGUMENT…]     the scratch path of the build, and arguments of `swift test` such as --filter NAME
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$1
shift
# A test ends at its own limit of ten minutes, unless it waits for something that ignores cancels.
seconds=1500
said=$(mktemp)
trap 'kill "$process" "$limit" 2>/dev/null || true; rm -f "$said"' EXIT

# The program that `swift test` runs. Its output is written line by line, so that none of it is lost if it is ended.
tests=$scratch/debug/LoaderChainPackageTests.xctest
[ -e "$tests" ] || tests=$scratch/release/LoaderChainPackageTests.xctest
NO_COLOR=1 stdbuf -oL "$tests" --testing-library swift-testing "$@" >"$said" 2>&1 &
process=$!
tail -n +1 -f --pid=$process "$said" &
shown=$!
sleep $seconds &
limit=$!

status=0
wait -n $process $limit || status=$?
if kill -0 $process 2>/dev/null; then
    echo "error: the tests are not over after $seconds s, and are ended"
    # Swift's own stacks, for a system without a debugger, end where a thread waits in the system.
    gdb -p $process -batch -ex 'thread apply all backtrace 30' 2>/dev/null || { kill -ABRT $process; sleep 20; }
    kill -KILL $process 2>/dev/null || true
    status=1
fi
wait $shown || true
[ $status -ne 0 ] || exit 0

awk '
    function name() {
        sub(/^[^ ]+ Test /, "")
        sub(/( with [0-9]+ test cases)? (started|(passed|failed) after).*/, "")
        return $0
    }
    /^[^ ]+ Test [^ ]+\(.* started\.$/ { running[name()] = 1 }
    /^[^ ]+ Test [^ ]+\(.* (passed|failed) after / { delete running[name()] }
    END { for (test in running) print "error: still running: " test }
' "$said"
exit $status
