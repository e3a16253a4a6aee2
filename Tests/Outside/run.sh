#!/usr/bin/env bash
# Builds and runs programs that use this package from outside, as its users do. They are one package, so that this one is built
# once for all of them.
#
#   Tests/Outside/run.sh          everything, as one debugs
#   Tests/Outside/run.sh long     also what hardly ever differs: without the flags for speed, and as one releases
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
scratch="$root/.build-outside"
output="$scratch/output.txt"
modes=(SwiftFive SwiftSix MainActorByDefault)

case "$*" in
    "" | long) ;;
    *) echo "Usage: Tests/Outside/run.sh [long]" >&2; exit 2 ;;
esac

# Debug builds are much quicker without debug information, and if the compiler reads each module once instead of once for each
# group of files.
quickly=(-debug-info-format none -Xswiftc -whole-module-optimization -Xswiftc -num-threads -Xswiftc 1)

# Builds the package in a scratch path, and fails at a warning of this package, of a program or of the package manager. Allowed are
# unused values in samples, which show a call whose result their readers use, what the linker says about Swift's own static
# libraries, and what the driver says about the flags.
allowed="Samples/.*(never (used|mutated|read)|unused)|/swift_static/|'-enable-batch-mode'"
build() {
    if ! swift build --package-path "$scratch/package" --scratch-path "$@" >"$output" 2>&1; then
        grep -E '^[^|]*error:' "$output" | sort -u >&2 || tail -n 30 "$output" >&2
        return 1
    fi
    if grep -E '^[^|]*warning:' "$output" | grep -vE "$allowed" | sort -u >&2; then
        echo "There are warnings; see above." >&2
        return 1
    fi
    rm "$output"
}

# A program that waits for what never comes ends by a signal.
limited() { perl -e 'alarm shift; exec @ARGV or die "$!\n"' 300 "$@"; }

run() {
    printf '%s: ' "$(basename "$1")"
    limited "$1"
}

echo "The guides, their samples and a program in every language mode, and the article's throttle, without a warning:"
# A module that is up to date is not compiled again, and does not show its warnings again. So after a build that failed, or did not
# come to its end, all programs are built anew.
[ ! -e "$output" ] || rm -rf "$scratch/package"
./assemble.sh "$scratch/package" "${modes[@]}"
build "$scratch/build" --build-tests "${quickly[@]}"
for program in SwiftFiveArticle SwiftSixArticle "${modes[@]/%/Program}" Small; do
    run "$scratch/build/debug/$program"
done

echo "What a program links that uses the core alone:"
if command -v ldd >/dev/null; then
    libraries=$(ldd "$scratch/build/debug/Small" | awk '{print $1}')
    printf '%s\n' "$libraries" | grep -E 'Foundation|swift' || true
    # FoundationEssentials is the one part of Foundation that the core needs.
    if printf '%s\n' "$libraries" | grep -E 'libFoundation(Networking|Internationalization|XML)?\.so|ICU'; then
        echo "The core links more of Foundation than FoundationEssentials; see the lines above." >&2
        exit 1
    fi
fi

if [ "$(uname)" = Linux ]; then
    echo "The terminal over libcurl, with the system's library, with one that is too old or lacks a feature, and without any:"
    # Makes a library that takes the place of the system's: its folder, its version and its features.
    stand_in() {
        mkdir -p "$1"
        clang -shared -fPIC -w -DVERSION="$2" -DFEATURES="$3" -o "$1/libcurl.so.4" CurlStandIn/curl.c
    }
    curls="$scratch/curls"
    stand_in "$curls/old" 0x074300 '1 << 7'
    stand_in "$curls/without-resolver" 0x080500 '1 << 19'
    stand_in "$curls/without-sockets" 0x080500 '1 << 7'
    mkdir -p "$curls/none"
    for name in libcurl.so.4 libcurl-gnutls.so.4 libcurl.so; do echo "no library" >"$curls/none/$name"; done
    clang -shared -fPIC -o "$curls/lookups.so" CurlStandIn/lookups.c
    said="$scratch/Curl.txt"
    {
        limited "$scratch/build/debug/Curl"
        LD_PRELOAD="$curls/lookups.so" no_proxy='*' limited "$scratch/build/debug/Curl" lookups
        for folder in "$curls/old" "$curls/none" "$curls/without-resolver" "$curls/without-sockets"; do
            LD_LIBRARY_PATH="$folder" limited "$scratch/build/debug/Curl" /socket
        done
    } | tee "$said"
    diff Expected/Curl.txt <(sed "s|$curls|FOLDER|g" "$said")
fi

echo "Each guide, followed from top to bottom by a program that knows nothing else:"
# The program does what the guide does with its declarations, section by section. Its output has the guide's headings in their
# order, and is compared with what is expected.
for folder in Sources/*Guide; do
    guide=$(basename "$folder" Guide)
    document="$root/Documentation/$guide.md"
    [ "$guide" != README ] || document="$root/README.md"
    said="$scratch/$guide.txt"
    if ! limited "$scratch/build/debug/${guide}Guide" >"$said"; then
        echo "The program that follows $guide ended with an error, after this:" >&2
        cat "$said" >&2
        exit 1
    fi
    if ! diff <(grep -E '^##+ ' "$document") <(grep -E '^##+ ' "$said"); then
        echo "The program does not follow $guide: left are the guide's headings, right the program's." >&2
        exit 1
    fi
    if ! diff "Expected/$guide.txt" "$said"; then
        echo "Following $guide leads elsewhere: left is what is expected, right what came." >&2
        exit 1
    fi
    echo "$guide: $(grep -c '^## ' "$said") sections"
done
swift test --package-path "$scratch/package" --scratch-path "$scratch/build" "${quickly[@]}" --skip-build --filter '^GuideTests\.'
echo "-- after $SECONDS s"
[ "$*" = long ] || exit 0

echo "A small program, built without the flags for speed:"
build "$scratch/plain" --product Small
run "$scratch/plain/debug/Small"

echo "The small program and that of every mode, as one releases, with the standard library within them:"
linked=()
[ "$(uname)" = Darwin ] || linked=(--static-swift-stdlib)
for program in Small Curl "${modes[@]/%/Program}"; do
    build "$scratch/static" -c release --product "$program" "${linked[@]}"
    run "$scratch/static/release/$program"
done
[ "$(limited "$scratch/static/release/Curl")" = hello ] || { echo "The static program cannot load libcurl." >&2; exit 1; }
echo "-- after $SECONDS s"
