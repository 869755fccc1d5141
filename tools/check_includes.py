#!/usr/bin/env python3
"""Check who includes whom, and a few words that the sources must not hold.

Errors end with status 1. Long files and functions are only reported: a prompt to think, no error.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What each folder of src/ may include besides itself and the public headers. docs/style.md has the
# reasons; data flows one way: plan -> run -> samples -> results -> table -> output.
MAY_INCLUDE = {
    "base": ["yyjson"],
    "plan": ["base"],
    "annotate": ["base"],
    "samples": ["base"],
    "table": ["base"],
    "stats": ["base"],
    "collect": ["base", "annotate", "samples"],
    "run": ["base", "plan", "annotate", "samples", "collect/collector.h",
            "collect/control.h", "stats"],
    "results": ["base", "plan", "samples", "stats", "table"],
    "output": ["base", "table", "yyjson"],
    "api": ["base", "plan", "annotate", "samples", "table", "stats", "collect", "run", "results",
            "output"],
}

# Tests of a folder may include what it may, and drive runs with collectors of their own.
TESTS_MAY_INCLUDE = ["harness.h", "fakes", "api/run.h"]

# Not in src/: (pattern, where it is allowed, what to use instead)
BANNED = [
    (r"\b(strcpy|strcat|sprintf|vsprintf|strncpy|strncat|atoi|atol|atof|gets|strtok)\s*\(", [],
     "a ks_buf, snprintf or base/num.h"),
    (r"(?<![\w>.])(malloc|calloc|realloc|free|strdup|asprintf)\s*\(", ["src/base/alloc.c", "src/base/demangle.c"],
     "base/alloc.h"),
    (r"(?<![\w>.])(printf|puts|putchar|perror|exit|abort|setlocale|strerror|srand|rand|system)\s*\(", [],
     "a returned error: the library never prints, exits or changes the process"),
    (r"%[0-9.*]*[efgEG]", ["src/base/num.c"], "base/num.h: printf asks the locale"),
]

# Files that may have variables of their own.
MUTABLE = ["src/base/alloc.c", "src/base/demangle.c", "src/annotate/", "src/collect/"]

LONG_FILE = 500
LONG_FUNCTION = 60

errors = []
prompts = []


def error(path, line, text):
    errors.append(f"{path.relative_to(ROOT)}:{line}: {text}")


def without_comments(text):
    """The source with comments and the content of string literals blanked, lines kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+[<"]([^">]+)[">]', line)
        if match:
            yield number, match.group(1)


def is_ours(name):
    return (ROOT / "src" / name).exists() or (ROOT / "third_party" / name).exists()


def allowed(name, folder, subfolder):
    if name.startswith("kernsight/"):
        return True
    top = name.split("/")[0]
    if top == folder:
        # one collector never includes another one
        parts = name.split("/")
        return not (folder == "collect" and subfolder and len(parts) > 2 and parts[1] != subfolder)
    return any(name == may or top == may for may in MAY_INCLUDE.get(folder, []))


def check_src(path, text):
    parts = path.relative_to(ROOT / "src").parts
    folder, subfolder = parts[0], parts[1] if len(parts) > 2 else None
    if folder not in MAY_INCLUDE:
        error(path, 1, f"folder src/{folder} is not in the table of tools/check_includes.py")
    for line, name in includes(text):
        if is_ours(name) and not allowed(name, folder, subfolder):
            error(path, line, f"src/{folder} must not include {name}")


def check_public_only(path, text):
    for line, name in includes(text):
        if is_ours(name):
            error(path, line, f"{name} is private: only public headers here")


def check_test(path, text):
    folder = path.relative_to(ROOT / "tests/unit").parts[0]
    for line, name in includes(text):
        extra = any(name == may or name.startswith(may + "/") for may in TESTS_MAY_INCLUDE)
        if is_ours(name) and not extra and not allowed(name, folder, None):
            error(path, line, f"a test of {folder} must not include {name}")


def check_banned(path, text):
    name = str(path.relative_to(ROOT))
    code = without_comments(text)
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, exceptions, instead in BANNED:
            match = re.search(pattern, line)
            if match and not any(name.startswith(e) for e in exceptions):
                error(path, number, f"{match.group(0).strip()}: use {instead}")
        if re.match(r"(static\s+)?(?!const\b|typedef\b|extern\b|return\b|enum\b|struct\b|union\b)"
                    r"[a-z_][\w ]*[ *]\w+(\[[^\]]*\])?\s*(=[^=].*)?;$", line):
            variable = not re.search(r"\bconst\b", line)
            if variable and not any(name.startswith(m) for m in MUTABLE):
                error(path, number, f"a variable of the whole file: {line.strip()}")


def report_long(path, text):
    lines = text.splitlines()
    if len(lines) > LONG_FILE:
        prompts.append(f"{path.relative_to(ROOT)}: {len(lines)} lines")
    start = name = None
    for number, line in enumerate(lines, 1):
        if line == "{" and number > 1:
            start = number
            head = " ".join(lines[max(0, number - 4):number - 1])
            found = re.findall(r"(\w+)\(", head)
            name = found[-1] if found else "?"
        elif line == "}" and start is not None:
            if number - start > LONG_FUNCTION:
                prompts.append(f"{path.relative_to(ROOT)}:{start}: {name} has {number - start} lines")
            start = None


def main():
    count = 0
    for pattern in ("src/**/*.[ch]", "cli/*.[ch]", "examples/**/*.[ch]", "include/**/*.h",
                    "tests/unit/**/*.c", "bench/*.c"):
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            count += 1
            top = path.relative_to(ROOT).parts[0]
            if top == "src":
                check_src(path, text)
                check_banned(path, text)
            elif top in ("cli", "examples", "include"):
                check_public_only(path, text)
            elif top == "tests":
                check_test(path, text)
            report_long(path, text)
    for text in errors:
        print(text)
    for text in prompts:
        print("long:", text)
    print(f"{count} files, {len(errors)} errors, {len(prompts)} prompts")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
