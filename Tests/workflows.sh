#!/usr/bin/env bash
# Checks the workflows of the public CI and the forms for issues with the tools that are installed: yamllint for the syntax,
# check-jsonschema for the schema.
set -euo pipefail
cd "$(dirname "$0")/.."
workflows=(.github/workflows/*.yml)
forms=(.github/ISSUE_TEMPLATE/*.yml)

if command -v yamllint >/dev/null; then
    rules='{extends: default, rules: {line-length: {max: 132}, document-start: disable, truthy: {check-keys: false}}}'
    yamllint --strict -d "$rules" "${workflows[@]}" "${forms[@]}" .spi.yml
else
    echo "yamllint is not installed, so the form of the workflows goes unchecked."
fi
if command -v check-jsonschema >/dev/null; then
    check-jsonschema --builtin-schema vendor.github-workflows "${workflows[@]}"
    for form in "${forms[@]}"; do
        schema=vendor.github-issue-forms
        [ "$(basename "$form")" != config.yml ] || schema=vendor.github-issue-config
        check-jsonschema --builtin-schema "$schema" "$form"
    done
else
    echo "check-jsonschema is not installed, so what the workflows say goes unchecked."
fi
