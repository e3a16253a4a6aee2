#!/usr/bin/env python3
"""Fails where a folder of Sources uses what a folder above it declares; layers.txt, beside this file, has the order.

  Tests/layers.py           looks at every target of layers.txt
  Tests/layers.py --prove   and then plants arrows that point upwards, and sees each found

The sources are read as text. A name counts as used where it stands as a word outside of comments and strings. Followed are the
types, functions and constants that a file declares for others, and the members that its extensions add to the types of lower
folders, where they stand behind a dot. A name that the folder itself or a lower one declares too does not count, and neither
does an extension's member whose name another folder declares.
"""
import functools
import os
import re
import sys
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "..", "Sources")
TABLE = os.path.join(HERE, "layers.txt")


# MARK: The table


class Target:
    """The order of the folders of one target."""

    def __init__(self, name):
        self.name = name
        self.layers = []
        # The arrows that may point upwards, with the reasons.
        self.admitted = {}

    def level(self, folder):
        """The number of a folder's layer, and the name by which the table knows the folder."""
        while True:
            for number, layer in enumerate(self.layers):
                if folder in layer:
                    return number, folder
            # The files beside the folders are no folder that others lie in.
            folder = os.path.dirname(folder)
            if not folder:
                return None, folder


def read_table(text):
    targets = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            targets.append(Target(line.strip()))
        elif match := re.fullmatch(r"\s+(\S+) uses (\S+): (.+)", line):
            targets[-1].admitted[(match[1], match[2])] = match[3]
        else:
            targets[-1].layers.append(line.split())
    return targets


# MARK: Reading Swift


MARKS = re.compile(r'//|/\*|#*"""|#*"')
PARENTHESES = re.compile(r'//|/\*|#*"""|#*"|[()]')


def code(text):
    """The text without its comments and strings, but with what strings interpolate, and with all its line breaks."""
    output = []
    _read_code(text, 0, output, until_parenthesis=False)
    return "".join(output)


def _read_code(text, position, output, until_parenthesis):
    depth = 0
    marks = PARENTHESES if until_parenthesis else MARKS
    while match := marks.search(text, position):
        output.append(text[position:match.start()])
        mark = match[0]
        position = match.end()
        if mark == "//":
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
        elif mark == "/*":
            position = _skip_comment(text, position, output)
        elif mark == "(":
            output.append(mark)
            depth += 1
        elif mark == ")":
            if depth == 0:
                return position
            output.append(mark)
            depth -= 1
        else:
            position = _read_string(text, position, mark, output)
    output.append(text[position:])
    return len(text)


def _skip_comment(text, position, output):
    depth = 1
    for match in re.compile(r"/\*|\*/|\n").finditer(text, position):
        if match[0] == "\n":
            output.append("\n")
        else:
            depth += 1 if match[0] == "/*" else -1
        if depth == 0:
            return match.end()
    return len(text)


def _read_string(text, position, opening, output):
    hashes = opening.rstrip('"')
    end = opening[len(hashes):] + hashes
    escape = "\\" + hashes
    marks = re.compile("|".join(map(re.escape, (end, escape, "\n"))))
    output.append('""')
    while match := marks.search(text, position):
        position = match.end()
        if match[0] == end:
            return position
        if match[0] == "\n":
            output.append("\n")
            if '"""' not in opening:
                return position
        elif text.startswith("(", position):
            output.append(" ")
            position = _read_code(text, position + 1, output, until_parenthesis=True)
            output.append(" ")
        else:
            position += 1
    return len(text)


WORD = r"`?([A-Za-z_][A-Za-z0-9_]*)`?"
DECLARATION = re.compile(
    r"(?P<before>[^\n;{}]*?)\b(?P<kind>struct|class|enum|actor|protocol|typealias|extension|func|let|var|case|associatedtype)\s+"
    + WORD.replace("(", "(?P<name>", 1))
HIDDEN = re.compile(r"\b(private|fileprivate)\b(?!\()")
TYPES = {"struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype"}


def _opened(text):
    return text.count("{") - text.count("}")


class File:
    """What one file declares, and the words it uses."""

    def __init__(self, path, folder, text):
        self.path = path
        self.folder = folder
        self.code = code(text)
        # Declared for other files, at the top.
        self.types, self.globals = set(), set()
        # The members that extensions add, by the type that they extend.
        self.members = defaultdict(set)
        # Declared anywhere in the file.
        self.all = set()
        self._read()

    def _read(self):
        depth, extended, hides = 0, None, False
        for line in self.code.split("\n"):
            position = 0
            for match in DECLARATION.finditer(line):
                depth += _opened(line[position:match.start("kind")])
                position = match.start("kind")
                if depth == 0:
                    extended = match["name"] if match["kind"] == "extension" else None
                    hides = bool(HIDDEN.search(match["before"]))
                self._declare(match, depth, extended, hides)
            depth += _opened(line[position:])

    def _declare(self, match, depth, extended, hides):
        kind, name = match["kind"], match["name"]
        if kind == "extension":
            return
        self.all.add(name)
        # A platform's branch is indented, but opens no brace.
        if HIDDEN.search(match["before"]):
            return
        if depth == 0 and kind in TYPES:
            self.types.add(name)
        elif depth == 0 and kind != "case":
            self.globals.add(name)
        elif depth == 1 and extended and not hides and kind in ("func", "let", "var"):
            self.members[extended].add(name)


# A proof reads most files again and again.
read = functools.lru_cache(maxsize=None)(File)


def read_files(target, root):
    """The Swift files of a target, with their folders as the table has them."""
    for folder, _, names in os.walk(os.path.join(root, target.name)):
        for name in sorted(names):
            if name.endswith(".swift"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    yield os.path.relpath(path, root), os.path.relpath(folder, os.path.join(root, target.name)), file.read()


# MARK: Finding arrows


def faults(target, sources):
    """What a target does against its table, a line each."""
    found, levels, files = [], {}, []
    for path, folder, text in sources:
        number, known = target.level(folder)
        if number is None:
            found.append(f"{path}: the folder {folder} of {target.name} is not in Tests/layers.txt")
            continue
        levels[known] = number
        files.append(read(path, known, text))
    for folder in (folder for layer in target.layers for folder in layer if folder not in levels):
        found.append(f"Tests/layers.txt: {target.name} has no folder {folder} with Swift files of its own")

    declared, spoken = defaultdict(set), defaultdict(set)
    for file in files:
        for name in file.types | file.globals:
            declared[name].add(file.folder)
        for name in file.all:
            spoken[name].add(file.folder)
    added = defaultdict(set)
    for file in files:
        for extended, names in file.members.items():
            # What an upper folder adds to the type of a lower one is an arrow if the lower one calls it.
            if any(levels[folder] < levels[file.folder] for folder in declared[extended]):
                # A name that several folders declare is a common one, which the standard library may have too.
                for name in names:
                    if spoken[name] == {file.folder}:
                        added[name].add(file.folder)

    used = set()
    for file in files:
        seen = set()
        for number, line in enumerate(file.code.split("\n"), 1):
            for match in re.finditer(r"(\.?)\b([A-Za-z_][A-Za-z0-9_]*)\b", line):
                name = match[2]
                owners = declared.get(name) or (added.get(name) if match[1] else None)
                if not owners or name in seen:
                    continue
                level = levels[file.folder]
                # A name that is declared here or below means that one, as far as words tell.
                if any(folder == file.folder or levels[folder] < level for folder in owners | spoken[name]):
                    continue
                seen.add(name)
                owner = min(owners, key=lambda folder: levels[folder])
                if (file.folder, owner) in target.admitted:
                    used.add((file.folder, owner))
                    continue
                place = "above it" if levels[owner] > level else "beside it"
                found.append(f"Sources/{file.path}:{number}: {file.folder} uses {name} of {owner}, which is {place}")
    for arrow in target.admitted.keys() - used:
        found.append(f"Tests/layers.txt: {target.name} admits that {arrow[0]} uses {arrow[1]}, which it does not")
    return found


def check(targets):
    found = []
    for target in targets:
        found += faults(target, list(read_files(target, SOURCES)))
    return found


# MARK: The proof


def prove(targets):
    """Plants faults in copies of the sources, one after the other; returns what was not found."""
    missed = []
    for target in targets:
        sources = list(read_files(target, SOURCES))
        for description, planted, expected in plants(target, sources):
            if not any(expected in fault for fault in faults(target, planted)):
                missed.append(f"{target.name}: {description} was not found")
    for description, text in INNOCENT.items():
        if found := faults(read_table("Toy\n    Low\n    High")[0], toy(text)):
            missed.append(f"{description} was taken for an arrow: {found[0]}")
    for description, text in GUILTY.items():
        if not faults(read_table("Toy\n    Low\n    High")[0], toy(text)):
            missed.append(f"{description} was not taken for an arrow")
    return missed


def plants(target, sources):
    """A use of each layer's first type in the layer below it, a folder that is nowhere, and an arrow that has gone."""
    firsts = {}
    for path, folder, text in sources:
        number, known = target.level(folder)
        types = read(path, known, text).types
        if number is not None and types:
            firsts.setdefault(number, (path, known, sorted(types)[0]))
    for number in sorted(firsts):
        if number + 1 not in firsts:
            continue
        (victim, low, _), (_, high, name) = firsts[number], firsts[number + 1]
        if (low, high) in target.admitted:
            continue
        planted = [(path, folder, text + f"\nlet planted: {name}? = nil\n" if path == victim else text)
                   for path, folder, text in sources]
        yield f"an arrow from {low} to {name} of {high}", planted, f"{low} uses {name} of {high}"
    yield "a folder without a layer", sources + [("Planted/Planted.swift", "Planted", "")], "is not in Tests/layers.txt"
    lowest = target.layers[0][0]
    yield ("a layer without a folder", [source for source in sources if target.level(source[1])[1] != lowest],
           f"has no folder {lowest}")


HIGH = """
public struct Tower { var floors = 0 }
extension Ground { var shadow: Int { 0 } }
func lookDown() {}
private struct Cellar {}
"""

INNOCENT = {
    "a comment": "// Tower\n/* Tower /* Tower */ Tower */ struct Ground {}",
    "a string": 'struct Ground { let text = "Tower \\" Tower", raw = #"Tower "\\(Tower)"#, long = """\nTower\n""" }',
    "a name of its own": "struct Ground { struct Tower {}; var top: Tower? }",
    "another's private type": "struct Ground { var below: Cellar? }",
    "a word that is no member": "struct Ground { func cast(shadow: Int) {} }",
}

GUILTY = {
    "a type": "struct Ground { var top: Tower? }",
    "a function": "struct Ground { init() { lookDown() } }",
    "an interpolation": 'struct Ground { let text = "a \\("b" + "\\(Tower().floors)") c" }',
    "an extension's member": "struct Ground {}\nlet dark = Ground().shadow",
}


def toy(low):
    return [("Toy/Low/Low.swift", "Low", low), ("Toy/High/High.swift", "High", HIGH)]


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--prove"]):
        sys.exit(__doc__)
    with open(TABLE, encoding="utf-8") as file:
        targets = read_table(file.read())
    found = check(targets)
    if not found and arguments:
        found = prove(targets)
    if found:
        sys.exit("\n".join(found))
    proof = ", and planted arrows are found" if arguments else ""
    print(f"no folder uses one above it in {', '.join(target.name for target in targets)}{proof}")


main()
