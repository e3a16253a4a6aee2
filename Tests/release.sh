#!/usr/bin/env bash
# Checks whether a checkout can be released with a tag: the version in the sources, the top of the changelog and the README name it,
# and the API has changed no more than the tag allows. Documentation/Releasing.md has all steps of a release.
#
#   Tests/release.sh 0.9.0
set -euo pipefail
cd "$(dirname "$0")/.."
[[ $# -eq 1 && $1 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "Usage: Tests/release.sh TAG, such as 0.9.0" >&2; exit 2; }
tag=$1

faults=0
fault() {
    echo "error: $*" >&2
    faults=$((faults + 1))
}

# The version that `apihealth --version` prints, the only string of its form in the program.
versions=$(grep -rhoE '"[0-9]+\.[0-9]+\.[0-9]+"' Sources/APIHealthKit | tr -d '"' | sort -u || true)
case $(wc -w <<<"$versions") in
    0) fault "no file in Sources/APIHealthKit contains a version such as \"$tag\"" ;;
    1) [ "$versions" = "$tag" ] || fault "the version in Sources/APIHealthKit is $versions, and not $tag" ;;
    *) fault "Sources/APIHealthKit contains several versions:" $versions ;;
esac

heading=$(grep -m 1 '^## ' CHANGELOG.md || true)
[[ $heading =~ ^"## $tag, "[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
    fault "the top heading of CHANGELOG.md is \"$heading\", and not \"## $tag, $(date -u +%F)\""

# The installation, which a reader copies.
for version in $(grep -oE '(from|upToNextMinor\(from|exact): "[^"]*"' README.md | cut -d '"' -f 2 | sort -u); do
    [ "$version" = "$tag" ] || fault "README.md installs version $version"
done

[ -z "$(git status --porcelain)" ] || fault "there are changes that are not committed"

last=$(git tag --list --sort=-version:refname --merged HEAD | grep -E '^[0-9]+\.[0-9]+\.[0-9]+$' | grep -vFx "$tag" | head -n 1 || true)
if [ -z "$last" ]; then
    echo "There is no earlier tag, so there is no API to compare with."
else
    report=$(mktemp)
    trap 'rm -f "$report"' EXIT
    if swift package --scratch-path .build-release-api diagnose-api-breaking-changes "$last" >"$report" 2>&1; then
        echo "No code that uses $last has to change."
    elif ! grep -q 'API breakage: ' "$report"; then
        cat "$report" >&2
        fault "the comparison with $last did not come to its end"
    else
        sed -n 's/.*API breakage: /  /p' "$report"
        IFS=. read -r major minor _ <<<"$tag"
        IFS=. read -r lastMajor lastMinor _ <<<"$last"
        if [ "$major" -gt "$lastMajor" ] || { [ "$major" -eq 0 ] && [ "$minor" -gt "$lastMinor" ]; }; then
            echo "Code that uses $last may have to change, which $tag may demand. Check that the changelog names each change above."
        else
            fault "version $tag must not break code that uses $last"
        fi
    fi
fi

[ "$faults" -eq 0 ] || exit 1
echo "$tag can be released."
