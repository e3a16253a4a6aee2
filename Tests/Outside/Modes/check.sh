#!/usr/bin/env bash
# Builds the samples of the guides and a program in every language mode, without a warning, and runs the program; then builds
# the program with a static standard library, and the libraries with library evolution.
# Usage: check.sh SCRATCH
set -euo pipefail
cd "$(dirname "$0")"
scratch=$1
root=$(cd ../../.. && pwd)
package="$scratch/package"
modes=(SwiftFive SwiftSix MainActorByDefault)

fresh="$scratch/fresh"
rm -rf "$fresh"
mkdir -p "$fresh/Sources"
sed "s|path: \"../../..\"|path: \"$root\"|" Package.swift >"$fresh/Package.swift"
for mode in "${modes[@]}"; do
    cp -R Sources/Program "$fresh/Sources/$mode"
    mkdir "$fresh/Sources/${mode}Samples"
    cp ../../Samples/Sources/Samples/*.swift "$fresh/Sources/${mode}Samples/"
    ../../Samples/extract.sh "$fresh/Sources/${mode}Samples/Extracted" >/dev/null
done
    # Unchanged files are kept, so that nothing is built twice.
if ! diff -rq "$fresh" "$package" >/dev/null 2>&1; then
    rm -rf "$package"
    mv "$fresh" "$package"
fi

# Builds, and fails at a warning of this package or of a program. Unused values in samples are allowed, since a sample shows a
# call and its readers use the result; and so are the linker's warnings about Swift's own libraries.
build() {
    local output="$scratch/output.txt"
    if ! swift build --package-path "$package" "$@" >"$output" 2>&1; then
        grep -E 'error:' "$output" | sort -u >&2 || tail -n 30 "$output" >&2
        return 1
    fi
    if grep -E 'warning:' "$output" | grep -vE 'never (used|mutated|read)|unused|/swift_static/' | sort -u >&2; then
        echo "There are warnings; see above." >&2
        return 1
    fi
}

run() {
    for mode in "${modes[@]}"; do "$1/$mode"; done
}

echo "Every mode, as one debugs:"
build --scratch-path "$scratch/build" --build-tests
run "$scratch/build/debug"

echo "Every mode, as one releases, with the standard library within the program:"
linked=()
[ "$(uname)" = Darwin ] || linked=(--static-swift-stdlib)
for mode in "${modes[@]}"; do
    build --scratch-path "$scratch/build" -c release --product "$mode" "${linked[@]}"
done
run "$scratch/build/release"
