#!/usr/bin/env bash
# Checks the links of the guides, and builds the reference of every module, where a dead link is an error. The samples are compiled
# by Tests/Outside/run.sh.
#
#   Tests/documentation.sh BUILD     BUILD is the folder of a debug build, such as .build/debug
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 1 ] || { echo "Usage: Tests/documentation.sh BUILD" >&2; exit 2; }
build=$1
scratch="$PWD/.build-documentation"

Tests/links.sh

target=$(swiftc -print-target-info | python3 -c 'import json, sys; print(json.load(sys.stdin)["target"]["triple"])')
# The targets in C, whose module maps the build writes, and the libraries of the system, which come with theirs.
headers=()
for map in Sources/*/module.modulemap; do headers+=(-I "$(dirname "$map")"); done
for folder in Sources/*/include; do
    headers+=(-Xcc "-fmodule-map-file=$build/$(basename "$(dirname "$folder")").build/module.modulemap")
done
for catalogue in Sources/*/*.docc; do
    module=$(basename "$catalogue" .docc)
    grep -qE "^ *- $module\$" .spi.yml || { echo ".spi.yml does not list $module" >&2; exit 1; }
    graphs="$scratch/graphs/$module"
    rm -rf "$graphs"
    mkdir -p "$graphs"
    swift symbolgraph-extract -module-name "$module" -minimum-access-level public -output-dir "$graphs" \
        -target "$target" -I "$build/Modules" "${headers[@]}"
    # A module's extensions of other modules have graphs of their own, which its reference leaves out.
    rm -f "$graphs"/*@*
    docc convert "$catalogue" --additional-symbol-graph-dir "$graphs" --warnings-as-errors \
        --fallback-display-name "$module" --fallback-bundle-identifier "$module" --output-path "$scratch/$module.doccarchive"
    echo "$module: the reference is complete"
done
