"""An app that uses the package: the samples of its guides, in each language mode of apps."""
import os

import copies
from library import run

MODES = {
    "Swift 5 mode": ["-swift-version", "5"],
    "Swift 6 mode": ["-swift-version", "6"],
    "main actor by default": ["-swift-version", "6", "-default-isolation", "MainActor"],
}


def files(repository, folder):
    """Copies the samples of the guides, and the declarations that they use."""
    extracted = os.path.join(folder, "extracted")
    script = os.path.join(repository, "Tests", "Samples", "extract.sh")
    run([script, extracted])
    found = [os.path.join(extracted, name) for name in os.listdir(extracted)]
    given = os.path.join(repository, "Tests", "Samples", "Sources", "Samples")
    found += [os.path.join(given, name) for name in os.listdir(given)]
    result = []
    for source in found:
        with open(source) as file:
            target = os.path.join(folder, "files", os.path.basename(source))
            copies.write(target, copies.on_apple(file.read()))
            result.append(target)
    return sorted(result)
