#!/usr/bin/env bash
# Runs tests in release many times, to find rare failures. It is not a part of the gate.
#
#   Tests/repeat.sh [PAIRS [SUITES]]    the contract of every pair of loaders, by default 50 times, and all tests, 10 times
#
# It stops at the first run that fails or hangs.
set -euo pipefail
cd "$(dirname "$0")/.."

build=.build-release-tests
swift build --build-tests -c release -Xswiftc -enable-testing -Xswiftc -warnings-as-errors --scratch-path $build

output=$(mktemp)
trap 'rm -f "$output"' EXIT

# Runs the tests once, and prints their output only if they failed. The program is started as `swift test` starts it, which
# would first check for something to build.
run() {
    local minutes=$1 status=0 process
    shift
    $build/release/LoaderChainPackageTests.xctest --testing-library swift-testing "$@" >"$output" 2>&1 &
    process=$!
    end_after "$minutes" "$process" &
    wait $process || status=$?
    [ $status -eq 0 ] || { cat "$output"; exit $status; }
}

end_after() {
    local end=$((SECONDS + 60 * $1))
    while kill -0 "$2" 2>/dev/null; do
        sleep 1
        if [ $SECONDS -ge $end ]; then
            echo "error: the tests are not over after $1 minutes, and are ended" >>"$output"
            # Swift prints the stacks of all threads, and then lets the process continue.
            kill -ABRT "$2"
            sleep 20
            kill -KILL "$2" 2>/dev/null || true
            return
        fi
    done
}

for round in $(seq "${1:-50}"); do
    run 10 --filter everyPairKeepsTheContract
    printf 'pairs %d: %s\n' "$round" "$(tail -n 1 "$output")"
done
for round in $(seq "${2:-10}"); do
    run 20
    printf 'suite %d: %s\n' "$round" "$(tail -n 1 "$output")"
done
