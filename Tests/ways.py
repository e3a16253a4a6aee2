#!/usr/bin/env python3
"""Fails if Documentation/Architecture.md names a file that is not there, or another number of files than a way has.

  Tests/ways.py           looks at the tables of the two ways
  Tests/ways.py --prove   and then plants faults in the page, and sees each found

A file is named by the end of its path below Sources, without `.swift`; one file must have it.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "Sources")
PAGE = os.path.join(HERE, "..", "Documentation", "Architecture.md")
WAYS = ["request", "point"]


def read_sources():
    """The paths of all files, each with a slash before it and no ending."""
    paths = (os.path.join(folder, name) for folder, _, names in os.walk(SOURCES) for name in names)
    return ["/" + os.path.relpath(path, SOURCES)[:-len(".swift")] for path in paths if path.endswith(".swift")]


def check(page, paths):
    """What is wrong, one sentence for each fault, and the number of files on each way."""
    faults, counts = [], []
    for way in WAYS:
        section = re.search(rf"^## The way of a {way}\n(.*?)^## ", page, re.M | re.S)[1]
        files = set()
        for row in re.findall(r"^\| .* \| (`.*`) \|$", section, re.M):
            for name in re.findall(r"`([^`]+)`", row):
                found = [path for path in paths if path.endswith("/" + name)]
                if len(found) != 1:
                    faults.append(f"{name}, on the way of a {way}, is the name of {len(found)} files")
                files.update(found)
        told = re.search(r"\b(\d+) files\b", section)
        if not told or int(told[1]) != len(files):
            faults.append(f"the way of a {way} has {len(files)} files, and the page says {told and told[1]}")
        counts.append(len(files))
    return faults, counts


def prove(page, paths):
    """The planted faults that are not found."""
    plants = [
        (page.replace("`Task/HTTPTask`", "`Task/Planted`"), paths, "Planted, on the way of a request"),
        (page, [path for path in paths if not path.endswith("/MetricPoint")], "MetricPoint, on the way of a point"),
        (page.replace(", `Task/TaskLife`", ""), paths, "and the page says"),
    ]
    return [words for page, paths, words in plants if not any(words in fault for fault in check(page, paths)[0])]


def main():
    paths = read_sources()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    faults, counts = check(page, paths)
    proof = ""
    if sys.argv[1:] == ["--prove"]:
        faults += [f"a planted fault was not found: {words}" for words in prove(page, paths)]
        proof = ", and planted faults are found"
    if faults:
        sys.exit("\n".join(faults))
    print(f"a request passes {counts[0]} files and a point {counts[1]}, as the page says{proof}")


main()
