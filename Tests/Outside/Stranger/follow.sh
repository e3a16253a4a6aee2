#!/usr/bin/env bash
# Follows each guide from top to bottom, as a reader does who knows nothing of this package but its guides.
#
# The declarations are those of the guides, copied out of them. The program beside them does what the guide does with them,
# section by section. Its output has the guide's headings in their order, and is compared with Expected.
# Usage: follow.sh SCRATCH [GUIDE…]
set -euo pipefail
cd "$(dirname "$0")"
scratch=$1
shift
root=$(cd ../../.. && pwd)
package="$scratch/package"

rm -rf "$package"
mkdir -p "$package"
cp -R Sources Tests "$package"
sed "s|path: \"../../..\"|path: \"$root\"|" Package.swift >"$package/Package.swift"

document() { if [ "$1" = README ]; then echo "$root/README.md"; else echo "$root/Documentation/$1.md"; fi; }

# Writes each block that begins with the fence $2 in the guide $1 into a file of its own within the folder $3.
copy_blocks() {
    mkdir -p "$3"
    awk -v fence="$2" -v out="$3" '
        /^```/ && inside { close(file); inside = 0; next }
        $0 == fence {
            inside = 1
            file = sprintf("%s/Block%02d.swift", out, ++count)
            print "import Foundation\nimport LoaderChain\nimport LoaderChainTesting" > file
            next
        }
        inside { print > file }
    ' "$1"
}

guides=()
for folder in Sources/*Guide; do
    guide=$(basename "$folder" Guide)
    guides+=("$guide")
    copy_blocks "$(document "$guide")" '```swift file' "$package/$folder/Copied"
    # The tests of a guide stand beside everything that it declares, and are built whether or not they are chosen.
    if grep -q '^```swift file test$' "$(document "$guide")"; then
        copy_blocks "$(document "$guide")" '```swift file test' "$package/Tests/GuideTests/$guide/Tests"
        copy_blocks "$(document "$guide")" '```swift file' "$package/Tests/GuideTests/$guide/Copied"
        # Of one name there can be one file in a module.
        for file in "$package/Tests/GuideTests/$guide"/*/*.swift; do
            mv "$file" "$(dirname "$file")/$guide$(basename "$(dirname "$file")")$(basename "$file")"
        done
    fi
done
[ $# -gt 0 ] && guides=("$@")

swift build --package-path "$package" --scratch-path "$scratch/build" --build-tests
for guide in "${guides[@]}"; do
    output="$scratch/$guide.txt"
    if ! "$scratch/build/debug/${guide}Guide" >"$output"; then
        echo "The program that follows $guide ended with an error, after this:" >&2
        cat "$output" >&2
        exit 1
    fi
    # What a guide says is followed: its headings are those of the program, in their order.
    if ! diff <(grep -E '^##+ ' "$(document "$guide")") <(grep -E '^##+ ' "$output"); then
        echo "The program does not follow $guide: left are the guide's headings, right the program's." >&2
        exit 1
    fi
    if ! diff "Expected/$guide.txt" "$output"; then
        echo "Following $guide leads elsewhere: left is what is expected, right what came." >&2
        exit 1
    fi
    echo "$guide: $(grep -c '^## ' "$output") sections"
done
swift test --package-path "$package" --scratch-path "$scratch/build" --skip-build
