#!/usr/bin/env python3
"""Type-checks the package as an Apple system's compiler would; README.md in this folder says what that proves.

  Tests/Apple/check.py                 macOS and iOS, all of Sources, Benchmarks and Tests
  Tests/Apple/check.py PLATFORM…       these: macos, ios, tvos, watchos, visionos; the last three without the tests and with less of an app
  Tests/Apple/check.py --prove …       and then plants faults in the copies, one after the other, each of which must be found
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import consumers
import copies
import delegates
import faults
import names
import widths
from library import HERE, Failure, Library
from platforms import PLATFORMS

REPOSITORY = os.path.dirname(os.path.dirname(HERE))
SCRATCH = os.path.join(REPOSITORY, ".build-apple")
# Tests run on these systems only, so the test targets are checked only for them. The others differ from them in what they lack,
# which the libraries and an app in one mode show.
TESTED = ("macos", "ios")
ONE_MODE = ("Swift 6 mode",)


class Check:
    """The package, compiled for one platform."""

    def __init__(self, library, sources, targets, output):
        self.library = library
        self.sources = sources
        self.targets = targets
        self.output = output
        maps = [target.module_map(sources, os.path.join(output, "C")) for target in targets.values()]
        self.module_maps = [folder for folder in maps if folder]
        os.makedirs(output, exist_ok=True)

    @property
    def search(self):
        """The flags for the platform, its modules and the package's modules."""
        return self.library.search + [flag for folder in [self.output] + self.module_maps for flag in ("-I", folder)]

    def run(self, names):
        """Compiles targets and their dependencies; returns the compiler's output for each."""
        wanted = self._with_dependencies(names)
        with concurrent.futures.ThreadPoolExecutor(max_workers=max(1, (os.cpu_count() or 2) // 2)) as pool:
            jobs = {}
            # A job waits only for jobs that were submitted before it.
            for target in (target for target in self.targets.values() if target.name in wanted):
                needed = [jobs[name] for name in target.dependencies if name in jobs]
                jobs[target.name] = pool.submit(self._compile, target, needed)
            return [job.result() for job in jobs.values()]

    def _with_dependencies(self, names):
        wanted = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in wanted and name in self.targets:
                wanted.add(name)
                waiting += self.targets[name].dependencies
        return wanted

    def _compile(self, target, needed):
        for job in needed:
            job.result()
        return self.compile(target)

    def typecheck(self, target):
        """Type-checks a target whose dependencies have been compiled, and on which none depends; returns the compiler's output."""
        return self._frontend(["-typecheck"] + self._options(target) + target.files(self.sources))

    def compile(self, target):
        """Compiles a target whose dependencies have been compiled; returns the compiler's output."""
        files = target.files(self.sources)
        if not files:
            return ""
        module = os.path.join(self.output, target.name + ".swiftmodule")
        # A dependency with errors reports them itself, and has a module with the rest.
        return self._frontend(
            ["-emit-module", "-o", module, "-experimental-allow-module-with-compiler-errors"] + self._options(target) + files)

    def syntax_tree(self, target):
        """A target's expressions with their types, as dumped by the compiler."""
        arguments = []
        with tempfile.TemporaryDirectory() as folder:
            # Each file has a tree of its own.
            for number, file in enumerate(target.files(self.sources)):
                arguments += ["-primary-file", file, "-o", os.path.join(folder, str(number))]
            complaints = self._frontend(["-dump-ast"] + self._options(target) + arguments)
            trees = []
            for name in os.listdir(folder):
                with open(os.path.join(folder, name)) as tree:
                    trees.append(tree.read())
        if not trees:
            raise Failure(f"{target.name} has no syntax tree: {complaints}")
        return "\n".join(trees)

    def _options(self, target):
        options = [
            "-module-name", target.name, "-swift-version", "6", "-package-name", "loaderchain", "-enable-testing", "-D", "DEBUG",
        ]
        if not any(os.path.basename(file) == "main.swift" for file in target.files(self.sources)):
            options += ["-parse-as-library"]
        for setting in target.settings:
            options += self._flags(setting)
        return options

    def compile_evolving(self, target):
        """Type-checks a library with library evolution; returns the compiler's output."""
        options = ["-typecheck", "-enable-library-evolution"] + self._options(target)
        text = self._frontend(options + target.files(self.sources))
        # Foundation's stubs and the package's modules are compiled without library evolution, which an app would not mix.
        return re.sub(r"^.*warning: module .* was not compiled with library evolution.*$", "", text, flags=re.M)

    def compile_app(self, files, mode):
        """Type-checks an app that uses the libraries; returns the compiler's output."""
        # Unused values are allowed in samples, because their readers will use them.
        text = self._frontend(["-typecheck", "-module-name", "App", "-parse-as-library"] + mode + files)
        return re.sub(r"^.*warning: .*(?:never (?:used|mutated|read)|unused).*$", "", text, flags=re.M)

    def _frontend(self, arguments):
        command = ["swift-frontend"] + arguments + self.library.flags + self.search
        result = subprocess.run(command, capture_output=True, text=True)
        text = result.stdout + result.stderr
        if result.returncode != 0 and "error:" not in text:
            text += f"\nerror: the compiler ended with {result.returncode}: {text[:1000]}"
        return text

    @staticmethod
    def _flags(setting):
        (kind, value), = setting.items()
        value = value["_0"]
        return {
            "enableUpcomingFeature": ["-enable-upcoming-feature", value],
            "enableExperimentalFeature": ["-enable-experimental-feature", value],
        }.get(kind, [])


def diagnostics(text, root):
    """The lines of errors and warnings, each once, with paths relative to the repository."""
    lines = re.findall(r"^(?! |[0-9]).*\b(?:error|warning): .*$", text, re.M)
    return sorted({line.replace(root + "/", "") for line in lines})


def main(arguments):
    proving = "--prove" in arguments
    platforms = [name for name in arguments if not name.startswith("-")] or ["macos", "ios"]
    if len(platforms) == 1:
        return 0 if check_platform(platforms[0], proving) else 1
    # A process for each platform, since each works in a folder of its own; the outputs keep the order of the arguments.
    command = [sys.executable, os.path.abspath(__file__)] + ["--prove"] * proving
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda name: subprocess.run(command + [name], stdout=subprocess.PIPE, text=True), platforms)
        failed = False
        for run in runs:
            print(run.stdout, end="", flush=True)
            failed |= run.returncode != 0
    return 1 if failed else 0


def check_platform(name, proving):
    """Checks the package for one platform, and prints the complaints; returns whether there are none."""
    targets, products, floors = copies.package(REPOSITORY)
    platform = PLATFORMS[name]
    scratch = os.path.join(SCRATCH, name)
    library = Library(platform, floors[platform.key], scratch)
    library.build()
    sources = os.path.join(scratch, "sources")
    copies.copy(REPOSITORY, sources)
    app = consumers.files(REPOSITORY, os.path.join(scratch, "app"))
    wanted = [target.name for target in targets.values() if name in TESTED or target.path.startswith("Sources")]
    check = Check(library, sources, targets, os.path.join(scratch, "modules"))
    texts = check.run(wanted)
    modes = consumers.MODES if name in TESTED else ONE_MODE
    texts += [check.compile_app(app, consumers.MODES[mode]) for mode in modes]
    if name in TESTED:
        texts += [check.compile_evolving(targets[product]) for product in products]
    texts += [delegates.strangers(check, target) for target in targets.values()]
    # The numbers are the same in all sources that systems share, so the system that every run of the gate checks is enough.
    if name in ("ios", "watchos"):
        texts += [widths.overflows(check, targets[product]) for product in products]
    found = [line for text in texts for line in diagnostics(text, scratch)] + names.collisions(check, products)
    for line in found:
        print(line)
    print(f"{library.target}: {len(found)} complaints about {len(wanted)} targets and {len(app)} files of an app")
    if found or not proving:
        return not found
    return faults.prove(name, check, app, products)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Failure as failure:
        sys.exit(f"The check itself failed: {failure}")
