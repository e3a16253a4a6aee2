#!/usr/bin/env bash
# The whole gate, stopping at the first failure. Run it from anywhere; it works in the repository it lies in.
#
#   Tests/check.sh          everything
#   Tests/check.sh STEP…    only these steps, by the names below
#
# What comes seldom is looked for by hand: Tests/repeat.sh runs the tests in release again and again.
set -euo pipefail
cd "$(dirname "$0")/.."

steps=(lint apple build tests release stress servers pages threads addresses outside documentation benchmarks)
sources=(Package.swift Sources Tests Benchmarks)

# Runs the tests, and repeats at the end what failed, since the whole is long.
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

# A time limit tells of a test that takes too long, but cannot end it: whatever it waits for, it goes on waiting. So a run
# that takes longer than any should is ended after some minutes, unless the file is gone by then. The process of the tests
# is, and no other, so that the one that started it still tells what it has heard. The first signal makes Swift show where
# the threads are, after which the process goes on as if nothing had been.
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

# The numbers of all processes that a process has started, and those that these have.
descendants() {
    local child
    for child in $(pgrep -P "$1"); do
        echo "$child"
        descendants "$child"
    done
}

# Each variant has its own scratch path, so that all stay incremental.
strict=(-Xswiftc -warnings-as-errors)

lint() {
    swift format lint --strict --recursive --parallel "${sources[@]}"
    Tests/layers.py --prove
    Tests/time-limits.sh
    Tests/workflows.sh
    python3 Tests/CLDR/units.py check
}

# All of it as an Apple system's compiler would see it, and a proof that the check finds what it is for.
apple() {
    Tests/Apple/check.py --prove macos ios
    Tests/Apple/check.py tvos watchos visionos
}

build() {
    swift build --build-tests --scratch-path .build-check "${strict[@]}"
}

tests() {
    run_tests --scratch-path .build-check "${strict[@]}"
}

# What users run is a release build, in which the optimizer moves things about that a debug build leaves in their places.
# Tests see what is internal, which a release build only shows when it is told to: so `swift test -c release` alone cannot
# compile them. For the same reason the benchmarks cannot share this build.
release() {
    run_tests -c release -Xswiftc -enable-testing --scratch-path .build-release-tests "${strict[@]}"
}

# Programs of a dozen lines, each several times in a process of its own, and all loaders under the load of many threads;
# built as users build them, and with sanitizers, under which the same takes many times as long.
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

# The tests that talk to real servers, which the step before has skipped.
servers() {
    Tests/servers.sh swift test --scratch-path .build-check "${strict[@]}" --filter RealServer
}

# The pages of the command-line program, laid out by a browser where there is one.
pages() {
    swift build --product apihealth --scratch-path .build-check "${strict[@]}"
    Tests/Pages/check.sh .build-check/debug/apihealth
}

# Under a sanitizer the same calls need more stack; what the tests allow a thread grows with it. One test runs at a time,
# because the slow ones would otherwise keep every thread from those that wait for something.
threads() {
    TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/races.supp" TEST_STACK_KILOBYTES=1024 \
        run_tests --no-parallel --sanitize=thread --scratch-path .build-thread
}

# The suppressions name what the test runner itself leaves behind. The tests of bad loaders are skipped, since a leak is
# what some of them are about; and locals stay on the real stack, whose depth is measured.
addresses() {
    ASAN_OPTIONS="detect_stack_use_after_return=0" LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.supp" \
        TEST_STACK_KILOBYTES=2048 \
        run_tests --no-parallel --sanitize=address --scratch-path .build-address --skip findsALoader --skip findsATimer
}

# Programs that use the package as their authors would, from outside.
outside() {
    Tests/Outside/run.sh
}

documentation() {
    Tests/documentation.sh
}

# Allocations are exact and must hold; times are printed and never asserted.
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
