"""Methods that look like an optional method of an Objective-C delegate, but do not match one.

In the stubs an optional method is a requirement with a default implementation. A method that differs from it by a letter is just
another method, as on an Apple system, where nothing calls it.
"""
import os
import re

from library import HERE

METHOD = re.compile(r"func (urlSession\w*|didReceive)\(")


def strangers(check, target):
    """The methods of a target whose labels and types match no delegate method."""
    known = set()
    for name in ("Foundation", "MetricKit"):
        folder = os.path.join(HERE, "Stubs", name)
        for file in os.listdir(folder):
            with open(os.path.join(folder, file)) as text:
                known |= {signature for _, signature in _methods(text.read())}
    found = []
    for file in target.files(check.sources):
        with open(file) as text:
            content = text.read()
        for line, signature in _methods(content):
            if signature not in known:
                found.append(f"{file}:{line}: error: {signature} is no method of a delegate of the system's")
    return "\n".join(found)


def _methods(text):
    """The line number of each method, by its name, labels and types."""
    for match in METHOD.finditer(text):
        depth, parts, start = 1, [], match.end()
        for index in range(match.end(), len(text)):
            character = text[index]
            depth += (character in "([") - (character in ")]")
            if depth == 0 or depth == 1 and character == ",":
                parts.append(text[start:index])
                start = index + 1
            if depth == 0:
                break
        parameters = []
        for part in filter(None, (" ".join(part.split()) for part in parts)):
            label, kind = part.split(":", 1)
            parameters.append(label.split()[0] + ":" + re.sub(r"\s", "", kind))
        yield text.count("\n", 0, match.start()) + 1, f"{match[1]}({', '.join(parameters)})"
