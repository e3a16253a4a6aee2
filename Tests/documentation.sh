#!/usr/bin/env bash
# Checks the links of the guides, builds the reference of every module, where a dead link is an error, and compiles every
# sample.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch="$PWD/.build-documentation"

Tests/links.sh

graphs="$scratch/graphs"
mkdir -p "$graphs/all"
for catalogue in Documentation/*.docc; do
    swift build --target "$(basename "$catalogue" .docc)" --scratch-path "$scratch" \
        -Xswiftc -emit-symbol-graph -Xswiftc -emit-symbol-graph-dir -Xswiftc "$graphs/all" \
        -Xswiftc -symbol-graph-minimum-access-level -Xswiftc public
done
for catalogue in Documentation/*.docc; do
    module=$(basename "$catalogue" .docc)
    rm -rf "${graphs:?}/$module"
    mkdir -p "$graphs/$module"
    cp "$graphs/all/$module".symbols.json "$graphs/$module"
    docc convert "$catalogue" --additional-symbol-graph-dir "$graphs/$module" --warnings-as-errors \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" --output-path "$scratch/$module.doccarchive"
    echo "$module: the reference is complete"
done

# The samples become a package of their own, built in the same scratch path as everything else.
package="$scratch/samples"
mkdir -p "$package/Sources"
sed "s|path: \"../..\"|path: \"$PWD\"|" Tests/Samples/Package.swift >"$package/Package.swift"
cp -R Tests/Samples/Sources/Samples "$package/Sources/"
Tests/Samples/extract.sh "$package/Sources/Samples/Extracted"
# A sample may leave a value unused, so warnings are not errors here.
swift build --build-tests --package-path "$package" -Xswiftc -suppress-warnings
