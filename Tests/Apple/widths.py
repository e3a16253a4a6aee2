"""Numbers that do not fit the 32-bit `Int` of a watch.

The library that the check compiles with has 64 bits, so this asks the compiler for the type of each literal, and checks whether the
literal would fit.
"""
import re

LITERAL = re.compile(r'integer_literal_expr type="(U?Int)" location=(\S+):(\d+):(\d+) .*?value="(-?\w+)"')
SHIFT = re.compile(r'declref_expr type="\((U?Int)\.Type\) -> .*? location=(\S+):(\d+):(\d+) .*?decl="Swift\.[^"]*?\.(<<=?|>>=?) \[')
BITS = {"Int": 31, "UInt": 32}


def overflows(check, target):
    """The literals that do not fit the narrow `Int`, formatted like a compiler's errors."""
    tree = check.syntax_tree(target)
    literals = {}
    found = set()
    for kind, file, line, column, value in LITERAL.findall(tree):
        number = int(value, 0)
        literals[file, int(line), int(column)] = number
        if number.bit_length() > BITS[kind]:
            found.add(f"{file}:{line}:{column}: error: {value} does not fit an {kind} of 32 bits")
    for kind, file, line, column, operator in SHIFT.findall(tree):
        # The number of bits follows the operator and a space.
        bits = literals.get((file, int(line), int(column) + len(operator) + 1))
        if bits is not None and bits >= BITS[kind]:
            found.add(f"{file}:{line}:{column}: error: a shift by {bits} leaves nothing of an {kind} of 32 bits")
    return "\n".join(sorted(found))
