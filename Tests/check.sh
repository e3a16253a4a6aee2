#!/usr/bin/env bash
# The whole gate, which stops at the first failure. It can be run from any directory.
#
#   Tests/check.sh          everything
#   Tests/check.sh STEP…    only these steps
#
# For rare failures, run Tests/repeat.sh by hand: it runs the tests in release many times.
set -euo pipefail
cd "$(dirname "$0")/.."

steps=(lint apple build tests release stress servers pages threads addresses outside documentation benchmarks)
sources=(Package.swift Sources Tests Benchmarks)

# Runs the tests, and prints the failures again at the end of the long output.
run_tests() {
    local output status=0
    output=$(mktemp)
    end_tests_after 30 "$output" &
    swift test "$@" 2>&1 | tee "$output" || status=$?
    if [ $status -ne 0 ]; then
        printf '\n-- what failed:\n'
        grep -E '^✘|recorded an issue|Sanitizer|error:' "$output" | head -n 100 || true
    fi
    rm -f "$output"
    return $status
}

# A time limit reports a test that takes too long, but cannot end what it waits for. So a run that takes much too long is
# ended after some minutes, unless the file is gone by then. Only the process of the tests is killed, so that `swift test`
# still prints its output. The first signal makes Swift print the stacks of all threads, after which the process continues.
end_tests_after() {
    local end=$((SECONDS + 60 * $1)) process
    while [ $SECONDS -lt $end ]; do
        sleep 1
        [ -e "$2" ] || return 0
    done
    for process in $(descendants $$); do
        case $(ps -o args= -p "$process") in
            *.xctest*)
                echo "error: the tests are not over after $1 minutes, and are ended"
                kill -ABRT "$process"
                sleep 20
                kill -KILL "$process" 2>/dev/null || true
                ;;
        esac
    done
}

# The ids of all processes that a process has started, directly or indirectly.
descendants() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}

# Each variant has its own scratch path, so that all builds stay incremental.
strict=(-Xswiftc -warnings-as-errors)

lint() {
    swift format lint --strict --recursive --parallel "${sources[@]}"
    Tests/layers.py --prove
    Tests/time-limits.sh
    Tests/workflows.sh
    python3 Tests/CLDR/units.py check
}

# Compiles everything as an Apple system's compiler would, and proves that the check finds what it is for.
apple() {
    Tests/Apple/check.py --prove macos ios tvos watchos visionos
}

build() {
    swift build --build-tests --scratch-path .build-check "${strict[@]}"
}

tests() {
    run_tests --scratch-path .build-check "${strict[@]}"
}

# Users run release builds, in which the optimizer reorders what a debug build does not. Tests need internal declarations, which
# a release build only exposes with a flag: so `swift test -c release` alone cannot compile them. For the same reason the
# benchmarks cannot share this build.
release() {
    run_tests -c release -Xswiftc -enable-testing --scratch-path .build-release-tests "${strict[@]}"
}

# Small programs, each several times in a process of its own, and all loaders under the load of many threads; built as users
# build them, and with sanitizers, under which the same run takes many times as long.
stress() {
    local program
    swift build -c release --product Stress --scratch-path .build-release
    for program in $(.build-release/release/Stress --list programs); do
        for _ in 1 2 3 4 5; do
            if ! .build-release/release/Stress --program "$program" --seconds 1; then
                echo "error: the program '$program' did not come to its end" >&2
                return 1
            fi
        done
    done
    .build-release/release/Stress

    swift build -c release --product Stress --sanitize=thread --scratch-path .build-release-thread
    TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/races.supp" \
        .build-release-thread/release/Stress --tasks 390000 --orderly

    swift build -c release --product Stress --sanitize=address --scratch-path .build-release-address
    ASAN_OPTIONS="detect_stack_use_after_return=0" LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.supp" \
        .build-release-address/release/Stress --tasks 650000
}

# The tests that talk to real servers, which the step `tests` skips.
servers() {
    Tests/servers.sh swift test --scratch-path .build-check "${strict[@]}" --filter RealServer
}

# The pages of apihealth, rendered by a browser if one is installed.
pages() {
    swift build --product apihealth --scratch-path .build-check "${strict[@]}"
    Tests/Pages/check.sh .build-check/debug/apihealth
}

# Under a sanitizer everything takes many times as long, so the tests that repeat something do a tenth of it, and the same calls
# need more stack, so the tests allow a thread more. Two tests run at a time: with more, slow ones keep all threads from tests
# that wait, and with one, both cores of a small machine wait for it.
threads() {
    TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/races.supp" TEST_SHARE=10 TEST_STACK_KILOBYTES=1024 \
        SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=2 \
        run_tests --sanitize=thread --scratch-path .build-thread
}

# The suppressions name leaks of the test runner itself. Locals stay on the real stack, whose depth is measured.
addresses() {
    ASAN_OPTIONS="detect_stack_use_after_return=0" LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.supp" \
        TEST_SHARE=10 TEST_STACK_KILOBYTES=2048 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=2 \
        run_tests --sanitize=address --scratch-path .build-address
}

# Programs that use the package from outside, as its users do.
outside() {
    Tests/Outside/run.sh
}

documentation() {
    Tests/documentation.sh
}

# Allocations are exact and are asserted; times are only printed.
benchmarks() {
    swift run -c release --scratch-path .build-release Benchmarks --quick --check-allocations
}

[ $# -gt 0 ] || set -- "${steps[@]}"
for step in "$@"; do
    case " ${steps[*]} " in
        *" $step "*) ;;
        *) echo "There is no step '$step'; the steps are: ${steps[*]}" >&2; exit 2 ;;
    esac
done
for step in "$@"; do
    printf '\n== %s\n' "$step"
    start=$SECONDS
    "$step"
    printf '== %s passed after %d s\n' "$step" $((SECONDS - start))
done
