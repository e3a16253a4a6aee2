#!/usr/bin/env bash
# Checks whether every relative link of the guides leads to an existing file, and every anchor to a heading.
set -euo pipefail
cd "$(dirname "$0")/.."

# The anchors of a guide's headings: lower-case letters, digits, dashes and underscores, with a dash for each space.
anchors() {
    awk '/^```/ { inside = !inside } /^##* / && !inside { sub(/^#+ /, ""); print tolower($0) }' "$1" |
        sed -E 's/\[([^]]*)\]\([^)]*\)/\1/g; s/[^a-z0-9 _-]//g; s/ /-/g'
}

# The links and images outside of samples, one per line.
links() {
    awk '/^```/ { inside = !inside } !inside' "$1" | sed -E 's/`[^`]*`//g' |
        grep -oE '\]\([^) ]+\)' | sed -E 's/^\]\((.*)\)$/\1/' || true
}

dead=0
count=0
for guide in *.md Documentation/*.md Documentation/Bridges/*.md; do
    while read -r link; do
        [ -n "$link" ] || continue
        case $link in http://* | https://* | mailto:*) continue ;; esac
        count=$((count + 1))
        file=${link%%#*}
        anchor=
        case $link in *"#"*) anchor=${link#*#} ;; esac
        target=$guide
        [ -z "$file" ] || target=$(dirname "$guide")/$file
        if [ ! -e "$target" ]; then
            echo "$guide: $link leads to no file" >&2
            dead=$((dead + 1))
        elif [ -n "$anchor" ] && ! anchors "$target" | grep -qxF -- "$anchor"; then
            echo "$guide: $link leads to no heading" >&2
            dead=$((dead + 1))
        fi
    done < <(links "$guide")
done
[ "$dead" -eq 0 ] || { echo "$dead of $count links are dead" >&2; exit 1; }
echo "$count links lead where they should"
