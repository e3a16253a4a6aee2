#!/usr/bin/env bash
# Writes the package that uses this one: the sources in this folder, and what is copied out of the guides.
# Usage: assemble.sh FOLDER MODE…, the folder as an absolute path
set -euo pipefail
cd "$(dirname "$0")"
package=$1
shift
root=$(cd ../.. && pwd)
fresh="$package.fresh"

# Writes each block that begins with the fence $2 in the guide $1 into a file of its own, which begins with $3.
copy_blocks() {
    mkdir -p "$(dirname "$3")"
    awk -v fence="$2" -v out="$3" '
        /^```/ && inside { close(file); inside = 0; next }
        $0 == fence {
            inside = 1
            file = sprintf("%s%02d.swift", out, ++count)
            print "import Foundation\nimport LoaderChain\nimport LoaderChainTesting" > file
            next
        }
        inside { print > file }
    ' "$1"
}

# Writes each block of the bridges into a file of its own: the files to copy as they are, and their uses as functions.
copy_bridges() {
    mkdir -p "$1"
    local page
    for page in "$root"/Documentation/Bridges/*.md; do
        awk -v out="$1/$(basename "$page" .md)" '
            /^```/ && inside { if (started) print "}" > file; close(file); inside = 0; next }
            /^```swift bridge( use)?$/ {
                inside = 1
                isUse = $3 == "use"
                started = 0
                file = sprintf("%s%02d.swift", out, ++count)
                next
            }
            inside && isUse && !started && !/^import / && NF { print "\nprivate func use() async throws {" > file; started = 1 }
            inside { print > file }
        ' "$page"
    done
}

rm -rf "$fresh"
mkdir -p "$fresh"
sed "s|path: \"../..\"|path: \"$root\"|" Package.swift >"$fresh/Package.swift"
cp -R Sources StandIns Tests "$fresh"

../Samples/extract.sh "$fresh/Extracted"
for mode in "$@"; do
    for program in Article Program; do cp -R "Modes/$program" "$fresh/Sources/$mode$program"; done
    copy_bridges "$fresh/Sources/${mode}Bridges"
    mkdir "$fresh/Tests/${mode}Samples"
    cp -R ../Samples/Sources/Samples/*.swift "$fresh/Extracted" "$fresh/Tests/${mode}Samples"
done
rm -r "$fresh/Extracted"

for folder in Sources/*Guide; do
    guide=$(basename "$folder" Guide)
    document="$root/Documentation/$guide.md"
    [ "$guide" != README ] || document="$root/README.md"
    copy_blocks "$document" '```swift file' "$fresh/$folder/Copied/Block"
    # The tests of a guide stand beside everything that it declares. Of one name there can be one file in a module.
    if grep -q '^```swift file test$' "$document"; then
        copy_blocks "$document" '```swift file test' "$fresh/Tests/GuideTests/$guide/${guide}Test"
        copy_blocks "$document" '```swift file' "$fresh/Tests/GuideTests/$guide/${guide}Block"
    fi
done

# An unchanged package is kept, so that nothing is built twice.
if ! diff -rq "$fresh" "$package" >/dev/null 2>&1; then
    rm -rf "$package"
    mv "$fresh" "$package"
fi
