#!/usr/bin/env bash
# The checks of this repository, in two parts. CONTRIBUTING.md says what each step proves. The first failure ends a run, whose last
# lines say what failed and how long every step took.
#
#   Tests/check.sh          the gate, which every change passes
#   Tests/check.sh long     everything else, before a release or after a change of its subject
#   Tests/check.sh STEP…    only these steps
set -euo pipefail
cd "$(dirname "$0")/.."

gate=(lint build tests documentation servers pages release benchmarks stress outside apple)
long=(repeat threads addresses stress-sanitized large curls outside-long apple-all)

# Each variant has its own scratch path, so that all builds stay incremental. Builds are much quicker without debug information, whose
# absence leaves the names of functions in stacks; debug builds also without an index of the system's modules, and if the compiler
# reads each module once instead of once for each group of files. Users' flags are those of the step `outside-long`.
plainly=(-debug-info-format none -Xswiftc -warnings-as-errors)
quickly=(
    "${plainly[@]}" -Xswiftc -index-ignore-system-modules -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1
)
# Tests need internal declarations, which a release build only exposes with a flag. So programs do not share that build.
testable=(-c release -Xswiftc -enable-testing "${plainly[@]}")

# A crash shows its stack.
export SWIFT_BACKTRACE=enable=yes,registers=none,images=none,color=no,interactive=no
# The suppressions name what the system and the test runner leak, and what a sanitizer does not see. Locals stay on the real stack,
# whose depth is measured.
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/races.supp"
export ASAN_OPTIONS="detect_stack_use_after_return=0"
export LSAN_OPTIONS="suppressions=$PWD/Tests/leaks.supp print_suppressions=0"

# Builds and runs the tests. Arguments: the scratch path and the flags of the build.
run_tests() {
    local scratch=$1
    shift
    swift build --build-tests --scratch-path "$scratch" "$@"
    Tests/run.sh "$scratch"
}

# Under a sanitizer everything takes many times as long, so tests that repeat something do a tenth of it, and the same calls
# need more stack, so the tests allow a thread more. Two tests run at a time: with more, slow ones keep all threads from tests that
# wait, and with one, both cores of a small machine wait for it.
run_tests_sanitized() {
    TEST_SHARE=10 TEST_STACK_KILOBYTES=2048 SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=2 run_tests "$@"
}

# MARK: The gate

lint() {
    swift format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks
    Tests/layers.py --prove
    Tests/locks.py --prove
    Tests/ways.py --prove
    Tests/time-limits.sh
    Tests/workflows.sh
    python3 Tests/CLDR/units.py check
}

build() {
    swift build --build-tests --scratch-path .build-check "${quickly[@]}"
}

tests() {
    run_tests .build-check "${quickly[@]}"
    # These hold up all sessions of their process.
    STUCK_SESSIONS=1 Tests/run.sh .build-check --filter StuckSessionTests
}

documentation() {
    build
    Tests/documentation.sh .build-check/debug
}

# The tests that talk to real servers, which the step `tests` skips.
servers() {
    build
    Tests/servers.sh Tests/run.sh .build-check --filter RealServer
}

# The pages of apihealth, rendered by a browser if one is installed.
pages() {
    build
    Tests/Pages/check.sh .build-check/debug/apihealth
}

# Users run release builds, in which the optimizer reorders what a debug build does not.
release() {
    run_tests .build-release-tests "${testable[@]}"
}

# Allocations are exact and are asserted; times are only printed.
benchmarks() {
    swift build -c release --product Benchmarks --scratch-path .build-release "${plainly[@]}"
    .build-release/release/Benchmarks --quick --check-allocations
}

# Small programs, each several times in a process of its own, and all loaders under the load of many threads; built as users
# build them. Then fewer tasks with the sanitizers: they find a race or a use of freed memory although nothing came of it, and leaks.
stress() {
    local program
    swift build -c release --product Stress --scratch-path .build-release "${plainly[@]}"
    for program in $(.build-release/release/Stress --list programs); do
        for _ in 1 2 3 4 5; do
            if ! .build-release/release/Stress --program "$program" --seconds 1; then
                echo "error: the program '$program' did not come to its end" >&2
                return 1
            fi
        done
    done
    .build-release/release/Stress
    stress_sanitized 100000 100000
}

# Arguments: how many tasks with the thread sanitizer, and how many with the address sanitizer.
stress_sanitized() {
    # With debug information: suppressions name functions that are inlined.
    swift build -c release --product Stress --sanitize=thread --scratch-path .build-release-thread
    .build-release-thread/release/Stress --orderly --tasks "$1"
    swift build -c release --product Stress --sanitize=address --scratch-path .build-release-address
    .build-release-address/release/Stress --tasks "$2"
}

# Programs that use the package from outside, as its users do.
outside() {
    Tests/Outside/run.sh
}

# Compiles everything as the compiler of a Mac and of an iPhone would, which also stands for the systems like it.
apple() {
    Tests/Apple/check.py macos ios
}

# MARK: Long

# The tests many times on a busy machine, for rare failures.
repeat() {
    build
    swift build --build-tests --scratch-path .build-release-tests "${testable[@]}"
    Tests/repeat.sh .build-check
    Tests/repeat.sh .build-release-tests
}

# A debug build, since the sanitizer does not see that a reference count orders the changes of two threads to a shared value, which
# the optimizer makes of copies.
threads() {
    run_tests_sanitized .build-thread --sanitize=thread "${quickly[@]}"
}

addresses() {
    run_tests_sanitized .build-address --sanitize=address "${quickly[@]}"
}

stress-sanitized() {
    stress_sanitized 390000 650000
}

# A gibibyte in each direction, through files, chunks, lines, events and resumed downloads, each in a process of its own;
# and what terminals get wrong at random moments, five times as often or more.
large() {
    swift build --build-tests --scratch-path .build-release-tests "${testable[@]}"
    URLSESSION_MEBIBYTES=1024 Tests/run.sh .build-release-tests --filter MemoryTests
    URLSESSION_EXCHANGES=10000 URLSESSION_CANCELS=100000 SERVER_KILLS=100 \
        Tests/run.sh .build-release-tests --filter 'TerminalTests\.FaultTests'
}

# The terminals with other versions of libcurl: CURLS names the folders that have them, with absolute paths.
curls() {
    swift build --build-tests --scratch-path .build-check "${quickly[@]}"
    [ -n "${CURLS:-}" ] || echo "Passed over: CURLS names no folder with another libcurl.so.4"
    local folder
    for folder in ${CURLS:-}; do
        [ -e "$folder/libcurl.so.4" ] || { echo "$folder has no libcurl.so.4" >&2; return 1; }
        echo "-- $folder"
        LD_LIBRARY_PATH=$folder Tests/run.sh .build-check --filter TerminalTests
    done
}

outside-long() {
    Tests/Outside/run.sh long
}

# The other systems, which only differ in what they lack, and faults in the sources that the check must find.
apple-all() {
    Tests/Apple/check.py --prove macos ios tvos watchos visionos
}

# MARK: Running

case "$*" in
    "") steps=("${gate[@]}") ;;
    long) steps=("${long[@]}") ;;
    *) steps=("$@") ;;
esac
for step in "${steps[@]}"; do
    case " ${gate[*]} ${long[*]} " in
        *" $step "*) ;;
        *) echo "There is no step '$step'. The gate: ${gate[*]}. Long: ${long[*]}." >&2; exit 2 ;;
    esac
done

said=$(mktemp)
table=""
failed=""

# The end of the output is all that some readers see, so it repeats what a failure said.
finish() {
    if [ -n "$failed" ]; then
        printf '\n== What failed in the step %s\n' "$failed"
        Tests/failures.sh "$said"
    fi
    printf '\n== Seconds of each step\n%s%8d  in all\n' "$table" "$SECONDS"
    rm -f "$said"
}
trap finish EXIT

for step in "${steps[@]}"; do
    printf '\n== %s\n' "$step"
    start=$SECONDS
    # Not in a condition, within which the shell would ignore failures.
    set +e
    (set -e; "$step") 2>&1 | tee "$said"
    status=${PIPESTATUS[0]}
    set -e
    took=$((SECONDS - start))
    result=passed
    [ "$status" -eq 0 ] || result=failed
    table+=$(printf '%8d  %s %s' $took "$step" $result)$'\n'
    printf '== %s %s after %d s\n' "$step" $result $took
    [ "$status" -eq 0 ] || { failed=$step; exit "$status"; }
done
