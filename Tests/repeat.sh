#!/usr/bin/env bash
# Runs tests that have been built many times, beside as many busy loops as there are cores, and stops at the first run that fails.
#
#   Tests/repeat.sh SCRATCH [RUNS [ARGUMENT…]]     by default 10 runs; arguments such as --filter NAME
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$1
runs=${2:-10}
shift $(($# < 2 ? $# : 2))

output=$(mktemp)
loops=()
trap 'kill "${loops[@]}"; rm -f "$output"' EXIT
for _ in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
    while :; do :; done &
    loops+=($!)
done

for run in $(seq "$runs"); do
    status=0
    Tests/run.sh "$scratch" "$@" >"$output" 2>&1 || status=$?
    [ $status -eq 0 ] || { cat "$output"; exit $status; }
    printf 'run %d: %s\n' "$run" "$(grep 'Test run with' "$output" | tail -n 1)"
done
