"""The names that an app sees when it imports all of the package's libraries at once."""
import json
import os

from library import run

# A module may have a type of its own name only if an app can write the names of all its other types without the module's name.
SHARED = {"ReportOutbox": "the box is what the library is about, and is called that in every guide"}


def collisions(check, products, changed=None):
    """Public names that two libraries declare, or that are also the name of a library, so that they cannot be qualified.

    If only some libraries have changed since the last time, the symbols of the others are kept."""
    owners = {}
    folder = os.path.join(check.output, "symbols")
    os.makedirs(folder, exist_ok=True)
    for product in products:
        symbols = os.path.join(folder, product + ".symbols.json")
        if changed is None or product in changed:
            # Not in place, because a planted copy has hard links.
            if os.path.exists(symbols):
                os.remove(symbols)
            run(["swift-symbolgraph-extract", "-module-name", product, "-output-dir", folder, "-minimum-access-level", "public"]
                + check.search)
        with open(symbols) as file:
            for symbol in json.load(file)["symbols"]:
                path = symbol["pathComponents"]
                if len(path) == 1 and symbol["kind"]["identifier"] in TYPES:
                    owners.setdefault(path[0], set()).add(product)
    found = []
    for name, modules in sorted(owners.items()):
        if len(modules) > 1:
            found.append(f"error: {name} is declared by {' and by '.join(sorted(modules))}")
        if name in products and name not in SHARED:
            found.append(f"error: {name} of {', '.join(modules)} has a library's name, which it hides")
    return found


TYPES = {"swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.actor", "swift.typealias"}
