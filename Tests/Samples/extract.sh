#!/usr/bin/env bash
# Writes every Swift sample of the guides, the catalogues and the comments of the sources into a file of its own.
#
# A sample is the body of a function, unless its fence says ```swift file, or it is in a comment and declares something.
# Imports move to the top; modules that only some systems have are imported conditionally. Usage: extract.sh FOLDER, an
# absolute path. Package manifests, marked ```swift manifest, are left out, and bridges to other packages, which assemble.sh copies.
# What ```swift apple marks is a file that is compiled where there is SwiftUI, and only parsed elsewhere; what ```swift linux marks, and
# what is of a module for Linux, is compiled there.
set -euo pipefail
out=$1
cd "$(dirname "$0")/../.."
rm -rf "$out"
mkdir -p "$out"

# Every sample may use every library, Foundation and Testing without importing them.
modules=$(echo Foundation Testing $(sed -n 's/.*\.library(name: "\([A-Za-z]*\)".*/\1/p' Package.swift))

for guide in README.md $(find Documentation -name '*.md' | sort) $(find Sources -name '*.md' -o -name '*.swift' | sort); do
    # The whole path, since a guide, a catalogue and a source may have one name.
    name=$(tr -c 'A-Za-z0-9\n' '_' <<<"$guide")
    awk -v out="$out/$name" -v guide="$guide" -v modules="$modules" '
        BEGIN {
            count = split(modules, names, " ")
            for (i = 1; i <= count; i++) { known[names[i]] = 1; header = header "import " names[i] "\n" }
            count = 0
        }
        function finish(   file, i) {
            file = sprintf("%s_%02d.swift", out, ++count)
            print "// From " guide ", line " start "." > file
            printf "%s", header > file
            print "#if canImport(FoundationNetworking)\n    import FoundationNetworking\n#endif" > file
            printf "%s", imports > file
            if (linux) body = "#if os(Linux)\n" body "#endif\n"
            if (apple) body = "#if canImport(SwiftUI)\n" body "#endif\n"
            if (whole) printf "\n%s", body > file
            else printf "\nprivate func sample%d() async throws {\n%s}\n", start, body > file
            close(file)
        }
        { line = $0 }
        guide ~ /\.swift$/ {
            if (line !~ /^ *\/\/\/ ?/) { inside = 0; next }
            sub(/^ *\/\/\/ ?/, "", line)
        }
        line ~ /^```swift/ && !inside {
            if (line ~ /manifest|bridge/) { skipping = 1; inside = 1; next }
            inside = 1; skipping = 0; start = NR; body = ""; imports = ""
            apple = (line ~ /^```swift apple/)
            linux = (line ~ /^```swift linux/ || guide ~ /LoaderChainCurl/)
            whole = apple || (line ~ /^```swift file/)
            next
        }
        line ~ /^```/ && inside { if (!skipping) finish(); inside = 0; next }
        inside && line ~ /^(@testable )?import / {
            module = line
            sub(/.* /, "", module)
            if (!(module in known)) imports = imports "#if canImport(" module ")\n    " line "\n#endif\n"
            next
        }
        inside && guide ~ /\.swift$/ && line ~ /^(public |final |open |private |@)*(extension|protocol|Test) ?/ { whole = 1 }
        inside { body = body line "\n" }
    ' "$guide"
done
echo "$(find "$out" -name '*.swift' | wc -l) samples"
