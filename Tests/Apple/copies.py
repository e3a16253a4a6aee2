"""Copies the sources with `canImport` decided as on an Apple system, and reads the package's targets."""
import json
import os
import re
import shutil

from library import run

# Modules of other systems, some of which the check itself is built on.
ELSEWHERE = {
    "Android", "Bionic", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
    "Glibc", "Musl", "WASILibc", "WinSDK", "ucrt",
}
CONDITION = re.compile(r"^(\s*#(?:if|elseif)\b)(.*)$", re.M)
MODULE = re.compile(r"canImport\((\w+)\)")
ROOTS = ("Sources", "Benchmarks", "Tests")


def on_apple(text):
    """The text with a `canImport` of a module that Apple systems lack replaced by `false`."""

    def decided(match):
        return match[1] + MODULE.sub(lambda module: "false" if module[1] in ELSEWHERE else module[0], match[2])

    return CONDITION.sub(decided, text)


def copy(repository, destination):
    """Copies the files of the package, except for those that have not changed."""
    kept = set()
    for root in ROOTS:
        for folder, folders, names in os.walk(os.path.join(repository, root)):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if not name.endswith((".swift", ".c", ".h", ".modulemap")):
                    continue
                source = os.path.join(folder, name)
                target = os.path.join(destination, os.path.relpath(source, repository))
                kept.add(target)
                with open(source) as file:
                    text = file.read()
                write(target, on_apple(text) if name.endswith(".swift") else text)
    for folder, _, names in os.walk(destination):
        for name in names:
            if os.path.join(folder, name) not in kept:
                os.remove(os.path.join(folder, name))


def write(path, text):
    """Writes a file, unless it has this content already."""
    if os.path.exists(path):
        with open(path) as file:
            if file.read() == text:
                return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


class Target:
    """A target of the package, with what its compilation needs."""

    def __init__(self, description):
        self.name = description["name"]
        self.kind = description["type"]
        folder = "Tests" if self.kind == "test" else "Sources"
        self.path = description.get("path") or os.path.join(folder, self.name)
        self.excluded = description["exclude"]
        self.dependencies = [
            next(iter(dependency.values()))[0] for dependency in description["dependencies"]
        ]
        self.settings = [setting["kind"] for setting in description["settings"] if setting["tool"] == "swift"]

    def files(self, root):
        """The target's Swift files in a copy of the sources, in a stable order."""
        found = []
        top = os.path.join(root, self.path)
        for folder, folders, names in os.walk(top):
            folders[:] = [
                name for name in folders if os.path.relpath(os.path.join(folder, name), top) not in self.excluded
            ]
            found += [os.path.join(folder, name) for name in names if name.endswith(".swift")]
        return sorted(found)

    def module_map(self, root, folder):
        """The folder of a C target's module map, which is generated in `folder` if the target has none."""
        top = os.path.join(root, self.path)
        for place, _, names in os.walk(top):
            if "module.modulemap" in names:
                return place
        headers = os.path.join(top, "include")
        if not os.path.isdir(headers):
            return None
        place = os.path.join(folder, self.name)
        write(os.path.join(place, "module.modulemap"), f'module {self.name} {{ umbrella "{headers}" export * }}\n')
        return place


def package(repository):
    """The package's targets by name, dependencies first, the names of its libraries, and its deployment targets."""
    description = json.loads(run(["swift", "package", "--package-path", repository, "dump-package"]))
    targets = {target["name"]: Target(target) for target in description["targets"]}
    ordered = {}

    def add(target):
        for name in target.dependencies:
            if name in targets:
                add(targets[name])
        ordered[target.name] = target

    for target in targets.values():
        add(target)
    floors = {platform["platformName"]: platform["version"] for platform in description["platforms"]}
    libraries = [name for product in description["products"] if "library" in product["type"] for name in product["targets"]]
    return ordered, libraries, floors
