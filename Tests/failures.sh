#!/usr/bin/env bash
# Prints what in an output says why it failed: of tests, the issues with the lines that explain them; of compilers and scripts, the
# errors; of a process that ended, the reason and its first stack. If nothing is found, the end of the output.
#
#   Tests/failures.sh FILE
set -euo pipefail

found=$(awk '
    # An issue goes on until the next event.
    /^[^ -~]/ { inside = /^✘/ }
    inside { print; next }
    /^[^|]*error: |Fatal error|^\*\*\* |Sanitizer: |^Thread [0-9]+.* crashed:/ { print }
    /(WARNING|ERROR): [A-Za-z]*Sanitizer: | crashed:$/ { stack = 16; next }
    stack-- > 0 { print }
' "$1" | head -n 120)
[ -n "$found" ] || found=$(tail -n 40 "$1")
printf '%s\n' "$found"
