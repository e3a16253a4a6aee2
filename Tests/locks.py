#!/usr/bin/env python3
"""Fails where the tables of Documentation/Concurrency.md and the locks in the sources differ.

  Tests/locks.py           compares them
  Tests/locks.py --prove   and then plants locks in the sources and rows in the tables, and sees each found

The sources are read as text. A lock is a constant that is a `Locked`, an `InPlaceLocked` or an array of them, and is named by the
type that it stands in. A lock that is taken in the closure of another needs a row in the table of locks inside locks; calls are
not followed.
"""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "Sources")
PAGE = os.path.join(HERE, "..", "Documentation", "Concurrency.md")

# The targets whose locks have a row each; the test kit and the programs have none that users wait for.
TARGETS = ["LoaderChain", "LoaderChainURLSession", "LoaderChainCurl", "ReportOutbox", "InfluxReporting", "LoaderChainGzip"]
# What locks are made of.
MECHANISM = {"Locked", "InPlaceLocked"}

TYPE = re.compile(r"^(\s*)(?!//)[^\"/{]*?\b(?:class|struct|enum|actor|extension)\s+([\w.]+)")
LOCK = re.compile(r"^\s*(?!//)[^\"/]*?\blet\s+(\w+)\s*(?::\s*\[?|=\s*)(?:InPlace)?Locked\b")
TAKE = re.compile(r"(\w+)\.withLock\s*\(?\s*\{")


def read_sources():
    files = []
    for target in TARGETS:
        for folder, _, names in os.walk(os.path.join(SOURCES, target)):
            for name in sorted(names):
                if name.endswith(".swift"):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        files.append((os.path.relpath(path, SOURCES), file.read()))
    return files


def types_by_line(text):
    """For each line, the innermost type that it stands in."""
    stack = []
    for line in text.splitlines():
        if line.strip():
            depth = len(line) - len(line.lstrip())
            while stack and (depth < stack[-1][0] or depth == stack[-1][0] and not TYPE.match(line)
                             and line.strip() != "}"):
                stack.pop()
            if match := TYPE.match(line):
                while stack and stack[-1][0] >= depth:
                    stack.pop()
                stack.append((depth, match[2].split(".")[-1]))
        yield line, stack[-1][1] if stack else None


def declared_locks(files):
    locks = {}
    for path, text in files:
        for number, (line, owner) in enumerate(types_by_line(text), 1):
            if (match := LOCK.match(line)) and owner not in MECHANISM:
                locks[f"{owner}.{match[1]}"] = f"{path}:{number}"
    return locks


def nested_locks(files):
    """Where a lock is taken in the closure of another: the outer and the inner one, and the place."""
    for path, text in files:
        lines = list(types_by_line(text))
        for match in TAKE.finditer(text):
            number = text.count("\n", 0, match.start())
            if lines[number][0].lstrip().startswith("//"):
                continue
            depth, end = 1, match.end()
            while end < len(text) and depth:
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            for inner in TAKE.finditer(text, match.end(), end):
                yield f"{lines[number][1]}.{match[1]}", inner[1], f"{path}:{number + 1}"


def rows(page, heading):
    """The names in the first column of the tables under a heading; those of the second one, too, by the first."""
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    for line in section.splitlines():
        if line.startswith("| ") and not line.startswith(("| lock ", "| outer ")):
            columns = line.split(" | ")
            yield re.findall(r"`([^`]+)`", columns[0]), re.findall(r"`([^`]+)`", columns[1])


def check(files, page):
    locks = declared_locks(files)
    documented = {name.split(".")[-2] + "." + name.split(".")[-1]
                  for names, _ in rows(page, "The locks") for name in names if "." in name}
    found = [f"Sources/{locks[name]}: error: the lock {name} has no row in Documentation/Concurrency.md"
             for name in sorted(locks.keys() - documented)]
    found += [f"Documentation/Concurrency.md: error: there is no lock {name}" for name in sorted(documented - locks.keys())]
    # A lock out of an array is named as one of them.
    admitted = {(outer.rstrip("s"), inner.split(".")[-1]) for outers, inners in rows(page, "Locks inside locks")
                for outer in outers for inner in inners}
    nested = sorted({(outer, inner, place) for outer, inner, place in nested_locks(files)})
    found += [f"Sources/{place}: error: {outer} is held while {inner} is taken; if that must be, say why in "
              "Documentation/Concurrency.md" for outer, inner, place in nested
              if (outer, inner) not in admitted]
    return found


def prove(files, page):
    """Plants faults; what is not found is one."""
    path, text = next(file for file in files if "let state = Locked(" in file[1])
    others = [file for file in files if file[0] != path]
    owner = next(owner for line, owner in types_by_line(text) if LOCK.match(line))
    planted = text.replace("let state = Locked(", "let planted = Locked(0)\n    private let state = Locked(", 1)
    nested = text.rstrip()[:-1] + "\n    func plant() { state.withLock { _ in other.withLock { $0 = 1 } } }\n}\n"
    faults = [
        ("a lock", others + [(path, planted)], page, f"the lock {owner}.planted has no row"),
        ("a row", files, page.replace("| `TaskCore.state`, in", "| `Planted.lock` | nothing | nobody |\n| `TaskCore.state`, in", 1),
         "there is no lock Planted.lock"),
        ("a lock inside a lock", others + [(path, nested)], page, "state is held while other is taken"),
    ]
    return [f"error: {name} that was planted was not found" for name, sources, text, sentence in faults
            if not any(sentence in line for line in check(sources, text))]


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--prove"]):
        sys.exit(__doc__)
    files = read_sources()
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    found = check(files, page)
    if not found and arguments:
        found = prove(files, page)
    if found:
        sys.exit("\n".join(found))
    proof = ", and planted faults are found" if arguments else ""
    print(f"the tables have the {len(declared_locks(files))} locks of {', '.join(TARGETS)}{proof}")


main()
