#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""clang-format and clang-tidy over the tree; a file found clean is not read again until it changes.

usage: lint.py format | lint.py tidy BUILD (a build folder with compile_commands.json)
"""
import concurrent.futures
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
PRODUCT = ("config", "probes", "runner")


def sources(folders, pattern):
    return [path for folder in folders for path in sorted((TOP / folder).rglob(pattern))]


def check_format():
    files = map(str, sources((*PRODUCT, "tests"), "*.[ch]"))
    return subprocess.run(["clang-format", "--dry-run", "-Werror", *files], cwd=TOP,
                          check=False).returncode


def with_headers(path, seen):
    """The file and all of ours that it includes."""
    if path in seen or not path.exists():
        return seen
    seen.add(path)
    for target in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
        with_headers(TOP / target, seen)
    return seen


def digest(path, version):
    mark = hashlib.sha256(version + (TOP / ".clang-tidy").read_bytes())
    for each in sorted(with_headers(path, set())):
        mark.update(str(each).encode() + b"\0" + each.read_bytes())
    return mark.hexdigest()


def tidy_one(path, build):
    done = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), str(path)], cwd=TOP,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    return done.returncode, done.stdout


def check_tidy(build):
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True,
                             check=True).stdout
    cache = TOP / "build" / "tidy"
    cache.mkdir(parents=True, exist_ok=True)
    clean = {path: cache / digest(path, version) for path in sources(PRODUCT, "*.c")}
    todo = [path for path in clean if not clean[path].exists()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, (code, text) in zip(todo, pool.map(lambda p: tidy_one(p, build), todo)):
            if code == 0:
                clean[path].touch()
            else:
                failed += 1
                print(text)
    print(f"clang-tidy: {len(todo)} of {len(clean)} files read, {failed} with findings")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["format"]:
        return check_format()
    if len(sys.argv) == 3 and sys.argv[1] == "tidy":
        return check_tidy(Path(sys.argv[2]).resolve())
    print(__doc__, file=sys.stderr)
    return 2


sys.exit(main())
