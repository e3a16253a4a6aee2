#!/usr/bin/env bash
# Builds and runs the programs in this folder, each a package of its own that depends on this one.
set -euo pipefail
cd "$(dirname "$0")"
scratch="$(cd ../.. && pwd)/.build-outside"

echo "The article's throttle, in Swift 5 mode and in Swift 6 mode, without a warning:"
swift build --package-path Article --scratch-path "$scratch/article" -Xswiftc -warnings-as-errors
for program in SwiftFive SwiftSix; do
    "$scratch/article/debug/$program"
done

echo "The samples of the guides and a program, in every mode that programs are written in, without a warning:"
Modes/check.sh "$scratch/modes"

echo "What a program links that uses the core alone:"
swift build --package-path Small --scratch-path "$scratch/small" -c release -Xswiftc -warnings-as-errors
"$scratch/small/release/small"
if command -v ldd >/dev/null; then
    libraries=$(ldd "$scratch/small/release/small" | awk '{print $1}')
    printf '%s\n' "$libraries" | grep -E 'Foundation|swift' || true
    # FoundationEssentials is the one part of Foundation that the core needs.
    if printf '%s\n' "$libraries" | grep -E 'libFoundation(Networking|Internationalization|XML)?\.so|ICU'; then
        echo "The core links more of Foundation than FoundationEssentials; see the lines above." >&2
        exit 1
    fi
fi

echo "Each guide, followed from top to bottom by a program that knows nothing else:"
Stranger/follow.sh "$scratch/stranger"
