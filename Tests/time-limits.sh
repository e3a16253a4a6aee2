#!/usr/bin/env bash
# Checks whether every test has a time limit: its own, or that of its suite. A test without one can hang the gate instead of
# failing it.
set -euo pipefail
cd "$(dirname "$0")/.."

files=$(find Tests -path '*Tests/*' -name '*.swift' | sort)

# The limit of a test counts from the moment at which it could begin, so on a small machine it also waits for its turn.
# shellcheck disable=SC2086
if grep -nE 'timeLimit\(\.minutes\([1-9]\)\)' $files; then
    echo "error: these time limits are shorter than ten minutes" >&2
    exit 1
fi

# All files are read twice: the first pass only finds the suites with a limit, which their extensions have too.
# shellcheck disable=SC2086
awk '
    function indentation(line) { match(line, /^ */); return RLENGTH }
    function leave() { depth = -1; limited = 0 }
    function forget() { attribute = ""; gathers = 0 }

    FNR == 1 { leave(); forget() }
    /^ *\/\// { next }

    # The end of the type that the tests so far lie in.
    /^ *}/ && indentation($0) == depth { leave() }

    # An attribute may take several lines, until its declaration comes.
    /^ *@(Suite|Test)/ { attribute = ""; gathers = 1; at = FNR }
    gathers { attribute = attribute " " $0 }

    /^[^"]*(struct|class|actor|enum|extension) [A-Z]/ {
        # A type within a suite has its limit.
        if (depth < 0 || indentation($0) <= depth) {
            name = $0
            sub(/^[^"]*(struct|class|actor|enum|extension) /, "", name)
            sub(/[^A-Za-z0-9_].*/, "", name)
            depth = indentation($0)
            if (attribute ~ /\.timeLimit\(/) suites[name] = 1
            limited = attribute ~ /\.timeLimit\(/ || / ?extension / && name in suites
            if (/}$/) leave()
        }
        forget()
        next
    }

    gathers && /(^| )func / {
        if (pass == 2) tests++
        if (pass == 2 && !limited && attribute !~ /\.timeLimit\(/) {
            print FILENAME ":" at ": no time limit; its suite needs @Suite(.timeLimit(.minutes(10)))"
            missing++
        }
        forget()
    }

    END {
        if (!tests) print "There are no tests."
        if (missing || !tests) exit 1
        print "all " tests " tests have a time limit"
    }
' $files pass=2 $files
