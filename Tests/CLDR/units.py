#!/usr/bin/env python3
"""Makes the table of unit names that payloads are read by, from the data of the Unicode CLDR.

  units.py gather WHEELS ICU   reads CLDR data out of Babel's distributions into units.txt, which the tests read too
  units.py table               makes UnitNames.swift from units.txt
  units.py check               fails if UnitNames.swift is not what units.txt makes
  units.py check WHEELS ICU    fails if units.txt is not what the distributions hold, either

ICU is Foundation's library, lib_FoundationICU.so of a Swift toolchain for Linux. Its data are those of the CLDR with Apple's
own changes. WHEELS is a folder with the wheels of the versions named below, and of pytz, which the early ones import:

  for version in $(Tests/CLDR/units.py versions); do pip download --no-deps --dest WHEELS babel==$version; done
  pip download --no-deps --dest WHEELS pytz

A system writes the names of the CLDR that it came with, so the table holds those of every version since iOS 13.
"""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "units.txt")
SWIFT = os.path.join(HERE, "../../Sources/MetricKitReporting/Quantities/UnitNames.swift")
LICENSE = os.path.join(HERE, "LICENSE")

# The version of Babel, and of the CLDR in it.
VERSIONS = {
    "2.7.0": "35.1", "2.8.0": "36", "2.9.1": "37", "2.10.3": "41", "2.12.1": "42", "2.15.0": "44", "2.16.0": "45",
    "2.17.0": "46", "2.18.0": "47",
}

# The units of time and of bytes that a payload can be written in.
UNITS = {
    "duration-nanosecond": "ns", "duration-microsecond": "us", "duration-millisecond": "ms", "duration-second": "s",
    "duration-minute": "min", "duration-hour": "h", "digital-byte": "B", "digital-kilobyte": "kB",
    "digital-megabyte": "MB", "digital-gigabyte": "GB", "digital-terabyte": "TB",
}
SYMBOLS = list(UNITS.values())
TIMES = {"ns", "us", "ms", "s", "min", "h"}

# The digit zero of each numbering system that a locale has by default.
ZEROS = {
    "latn": "0", "arab": "\u0660", "arabext": "\u06F0", "nkoo": "\u07C0", "deva": "\u0966", "beng": "\u09E6",
    "tibt": "\u0F20", "mymr": "\u1040", "olck": "\u1C50", "mtei": "\uABF0", "cakm": "\U00011136",
    "hmnp": "\U0001E140", "adlm": "\U0001E950",
}

# Runs beside one version of Babel, whose data are pickles of its own classes.
READER = '''
import json, sys
from babel import localedata
units = json.loads(sys.argv[1])
locales = {}
for name in localedata.locale_identifiers() if hasattr(localedata, "locale_identifiers") else localedata.list():
    data = localedata.load(name)
    patterns = data["unit_patterns"] if "unit_patterns" in data else {}
    own = {}
    for unit, symbol in units.items():
        if unit in patterns and "short" in patterns[unit]:
            counts = dict(patterns[unit]["short"])
            own[symbol] = [counts[count] for count in ("zero", "one", "two", "few", "many", "other") if count in counts]
    system = data["default_numbering_system"] if "default_numbering_system" in data else "latn"
    symbols = data["number_symbols"]
    marks = dict(symbols["latn"]) if "latn" in symbols else dict(symbols) if "decimal" in symbols else {}
    if system in symbols:
        marks.update({key: value for key, value in dict(symbols[system]).items() if value})
    locales[name] = {
        "units": own, "system": system, "decimal": marks.get("decimal"), "group": marks.get("group"),
        "pattern": data["decimal_formats"][None].pattern,
    }
json.dump(locales, sys.stdout)
'''


def read(arguments):
    """The locales of every version, oldest version first, and of Foundation's library at the end."""
    if len(arguments) != 2:
        sys.exit(__doc__)
    return {**read_wheels(arguments[0]), **read_library(arguments[1])}


def read_wheels(folder):
    """The locales of every version, oldest version first."""
    wheels = [name for name in os.listdir(folder) if name.endswith(".whl")]
    time_zones = [name for name in wheels if name.lower().startswith("pytz-")]
    all_locales = {}
    for babel, cldr in VERSIONS.items():
        mine = [name for name in wheels if name.lower().startswith("babel-%s-" % babel)]
        if not mine or not time_zones:
            sys.exit("%s lacks the wheel of %s" % (folder, "Babel " + babel if not mine else "pytz"))
        with tempfile.TemporaryDirectory() as place:
            for name in mine + time_zones:
                zipfile.ZipFile(os.path.join(folder, name)).extractall(place)
            found = subprocess.run(
                [sys.executable, "-c", READER, json.dumps(UNITS)], cwd=place, env=dict(os.environ, PYTHONPATH=place),
                capture_output=True, text=True, check=True)
        all_locales[cldr] = json.loads(found.stdout)
    return all_locales


class ICU:
    """What Foundation's library writes."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        for name, result, arguments in [
            ("uloc_countAvailable", ctypes.c_int32, []),
            ("uloc_getAvailable", ctypes.c_char_p, [ctypes.c_int32]),
            ("ulocdata_getCLDRVersion", None, [ctypes.c_void_p, ctypes.c_void_p]),
            ("unumf_openForSkeletonAndLocale", ctypes.c_void_p,
             [ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p]),
            ("unumf_openResult", ctypes.c_void_p, [ctypes.c_void_p]),
            ("unumf_formatDecimal", None,
             [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p]),
            ("unumf_resultToString", ctypes.c_int32,
             [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p]),
            ("unumf_closeResult", None, [ctypes.c_void_p]), ("unumf_close", None, [ctypes.c_void_p]),
        ]:
            function = getattr(self.library, "swift_" + name)
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def version(self):
        """The version of the CLDR, with a mark that Apple changed it."""
        numbers, status = (ctypes.c_uint8 * 4)(), ctypes.c_int32()
        self.ulocdata_getCLDRVersion(numbers, ctypes.byref(status))
        return "%d*" % numbers[0]

    def locales(self):
        return [self.uloc_getAvailable(index).decode() for index in range(self.uloc_countAvailable())]

    def texts(self, locale, skeleton, numbers):
        """The texts of numbers, which are given in ASCII."""
        status = ctypes.c_int32()
        units = skeleton.encode("utf-16-le")
        formatter = self.unumf_openForSkeletonAndLocale(
            ctypes.create_string_buffer(units), len(units) // 2, locale.encode(), ctypes.byref(status))
        result = self.unumf_openResult(ctypes.byref(status))
        texts = []
        for number in numbers:
            buffer = ctypes.create_string_buffer(1000)
            self.unumf_formatDecimal(formatter, number.encode(), len(number), result, ctypes.byref(status))
            length = self.unumf_resultToString(result, buffer, 500, ctypes.byref(status))
            texts.append(buffer.raw[:2 * length].decode("utf-16-le"))
        self.unumf_closeResult(result)
        self.unumf_close(formatter)
        if status.value > 0:
            sys.exit("ICU writes nothing in %s: error %d" % (locale, status.value))
        return texts


# Numbers that belong to all the plural categories that there are.
COUNTS = ["0", "1", "2", "3", "5", "6", "7", "8", "11", "20", "21", "100", "1000000", "0.5", "1.5", "10.1"]


def read_library(path):
    """The locales of Foundation's library, with the version of its data."""
    icu = ICU(path)
    locales = {}
    for name in icu.locales():
        numbers = icu.texts(name, ".###", COUNTS)
        units = {}
        for unit, symbol in UNITS.items():
            texts = icu.texts(name, "unit/%s unit-width-short .###" % unit.split("-")[1], COUNTS)
            # Hebrew has a word for two hours, without a number.
            units[symbol] = [text.replace(number, "{0}") for text, number in zip(texts, numbers) if number in text]
        zero, fraction, groups = icu.texts(name, ".###", ["0", "1.5", "1234567"])
        parts = re.findall(r"\d+|\D+", groups)
        sizes = "%d %d" % (len(parts[-1]), len(parts[-3]) if len(parts) > 3 else len(parts[-1])) if parts[1:] else "0 0"
        locales[name] = {
            "units": units, "number": "\t".join([zero, sizes, fraction[1:-1], parts[1] if parts[1:] else ","])}
    return {icu.version(): locales}


def group_sizes(pattern):
    """How many digits the last group has and the others, as in `3 2`; `0 0` if there are none."""
    whole = pattern.split(";")[0].split(".")[0].split(",")
    if len(whole) == 1:
        return "0 0"
    return "%d %d" % (len(whole[-1]), len(whole[-2]) if len(whole) > 2 else len(whole[-1]))


def gather(all_locales):
    """The text of units.txt."""
    order = list(all_locales)
    newest = all_locales[list(VERSIONS.values())[-1]]
    forms, numbers, uses = {}, {}, defaultdict(lambda: defaultdict(list))
    for cldr, locales in all_locales.items():
        for name, locale in sorted(locales.items()):
            if not locale["units"]:
                continue
            form = "\t".join(
                symbol + "=" + "|".join(dict.fromkeys(locale["units"].get(symbol, [])))
                for symbol in SYMBOLS if locale["units"].get(symbol))
            # The early versions have the marks of one numbering system only.
            writing = newest.get(name, locale)
            number = locale.get("number") or "\t".join([
                ZEROS[writing["system"]], group_sizes(writing["pattern"]), writing["decimal"] or ".",
                writing["group"] or ","])
            form = forms.setdefault(form, len(forms))
            number = numbers.setdefault(number, len(numbers))
            uses[(form, number)][name].append(cldr)
    lines = [
        "# The short names of units in the Unicode CLDR %s, by Tests/CLDR/units.py." % ", ".join(order),
        "# The version with a star is that of Foundation, with Apple's own changes.",
        "# Unicode License V3, see LICENSE.",
        "#",
        "# form: the patterns of each unit, for whichever counts there are. {0} is the number.",
        "# number: the digit zero, the sizes of the last group of digits and of the others, the mark before a fraction",
        "# and the one between groups. locales: a form, a number, and the locales that use them, with the versions.",
    ]
    lines += ["form\t%d\t%s" % (index, form) for form, index in forms.items()]
    lines += ["number\t%d\t%s" % (index, number) for number, index in numbers.items()]
    for (form, number), names in sorted(uses.items()):
        spans = defaultdict(list)
        for name, cldrs in names.items():
            spans[",".join(spelled(cldrs, order))].append(name)
        for span, names in sorted(spans.items()):
            lines.append("locales\t%d\t%d\t%s\t%s" % (form, number, span, " ".join(sorted(names))))
    return "\n".join(lines) + "\n"


def spelled(cldrs, order):
    """Versions, with those in a row as `35.1-42`."""
    rows = []
    for cldr in cldrs:
        place = order.index(cldr)
        if rows and rows[-1][1] == place - 1:
            rows[-1][1] = place
        else:
            rows.append([place, place])
    return [order[first] if first == last else order[first] + "-" + order[last] for first, last in rows]


def parsed(text):
    """For each use: the locales, their patterns, and the mark before a fraction."""
    forms, numbers, uses = {}, {}, []
    for line in text.splitlines():
        fields = line.split("\t")
        if fields[0] == "form":
            forms[fields[1]] = {
                unit: patterns.split("|") for unit, patterns in (field.split("=", 1) for field in fields[2:])}
        elif fields[0] == "number":
            numbers[fields[1]] = fields[4]
        elif fields[0] == "locales":
            uses.append((fields[4].split(" "), forms[fields[1]], numbers[fields[2]]))
    return uses


def name_of(pattern):
    """The name in a pattern, with `#` behind it if it stands before the number; None if the number is not written."""
    pattern = re.sub("[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]", "", pattern)
    before, number, behind = re.sub(r"\s", " ", pattern).partition("{0}")
    before, behind = before.strip(), behind.strip()
    if not number:
        return None
    assert not (before and behind), pattern
    return before + "#" if before else behind


def names_by_use(text):
    """For each use: its locales, the set of (unit, name), and the mark before a fraction."""
    for locales, form, decimal in parsed(text):
        names = {(unit, name_of(pattern)) for unit, patterns in form.items() for pattern in patterns}
        yield locales, {(unit, name) for unit, name in names if name}, decimal


def make_table(text):
    """The text of UnitNames.swift."""
    decimals, companions, units_of = defaultdict(set), defaultdict(set), defaultdict(set)
    for locales, names, decimal in names_by_use(text):
        for unit, name in names:
            decimals[(unit, name)].add(decimal)
            units_of[(unit in TIMES, name)].add(unit)
            companions[(unit, name)] |= {other for _, other in names}
    lines = defaultdict(list)
    for (unit, name), marks in decimals.items():
        # A mark is told by a name only if all its languages write it.
        lines[(SYMBOLS.index(unit), next(iter(marks)) if len(marks) == 1 else "-")].append(name)
    table = ["%s %s %s" % (SYMBOLS[unit], mark, "|".join(sorted(names))) for (unit, mark), names in sorted(lines.items())]
    rivals = [
        "|".join([unit, name] + sorted(companions[(unit, name)]))
        for (_, name), units in sorted(units_of.items()) if len(units) > 1 for unit in sorted(units)]
    versions = re.search("CLDR (.*), by", text).group(1).replace("*", " with Apple's changes")
    license = open(LICENSE, encoding="utf-8").read().strip().splitlines()
    return TEMPLATE % (
        "\n".join(("// " + line).rstrip() for line in license), versions,
        indented(table), indented(rivals))


def indented(lines):
    return "\n".join("        " + line for line in lines)


TEMPLATE = '''// Made by Tests/CLDR/units.py from the data of the Unicode CLDR, under this license:
//
%s

/// The names of units of time and of bytes in all languages, from the Unicode CLDR %s.
enum UnitNames {
    /// The names, one line for each unit and decimal separator.
    ///
    /// Each line has the unit, the separator, or `-` if the languages with these names have different ones, and the names. A name that
    /// ends with `#` precedes its number.
    static let table = """
%s
        """

    /// The names that mean two units of the same quantity, one line for each unit.
    ///
    /// Each line has the unit, the name, and all unit names of the languages in which the name means this unit. So the other names in a
    /// payload determine the unit.
    static let rivals = """
%s
        """
}
'''


def expect(path, text):
    with open(path, encoding="utf-8") as file:
        if file.read() != text:
            sys.exit("%s is not what units.py makes" % os.path.relpath(path))


def main(command="", *arguments):
    if command == "versions":
        print("\n".join(VERSIONS))
    elif command == "gather":
        text = gather(read(arguments))
        with open(DATA, "w", encoding="utf-8") as file:
            file.write(text)
    elif command in ("table", "check"):
        with open(DATA, encoding="utf-8") as file:
            text = file.read()
        if command == "check":
            if arguments:
                expect(DATA, gather(read(arguments)))
            expect(SWIFT, make_table(text))
        else:
            with open(SWIFT, "w", encoding="utf-8") as file:
                file.write(make_table(text))
    else:
        sys.exit(__doc__)


main(*sys.argv[1:])
