#!/usr/bin/env python3
"""clang-tidy over the sources that a build compiles.

    tidy_units.py BUILD [FILE...]      all files, or only those named

clang-tidy spends nearly all of its time in the headers that every file includes, so files of one target are looked at
together: one generated file includes them. Those whose local names clash go into another one.
"""
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOGETHER = 10
OWN_FILES = f"^{ROOT}/(common|spank|prolog|tests)/"
# gcc's warnings that clang does not know
EXTRA = ["-Wno-unknown-warning-option"]


def program(name):
    """Release 14 is the one the configuration is written for."""
    return shutil.which(f"{name}-14") or shutil.which(name)


def is_clang_tidy():
    """Whether what stands under that name is it: a stand-in that says nothing must not count as a clean run."""
    found = program("clang-tidy")
    return found is not None and "LLVM version" in subprocess.run([found, "--version"], capture_output=True, text=True,
                                                                  check=False).stdout


def flags_of(entry):
    """The options of one compile command, without the file and its output."""
    words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
    while not words[0].startswith("-") and len(words) > 1 and words[1][0] != "-":
        words = words[1:]  # a launcher before the compiler
    flags, skip = [], False
    for word in words[1:]:
        if skip or word in ("-c", entry["file"]):
            skip = False
        elif word in ("-o", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-MD", "-MMD"):
            flags.append(word)
    return tuple(flags)


def sources(build, only):
    """Options -> the files compiled with them."""
    groups = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        name = entry["file"]
        if not name.startswith(f"{ROOT}/") or name.startswith(f"{build}/") or not name.endswith(".cpp"):
            continue
        if not only or name in only:
            groups.setdefault(flags_of(entry), []).append(name)
    return groups


def write_unit(folder, files):
    unit = Path(tempfile.mkstemp(suffix=".cpp", dir=folder)[1])
    unit.write_text("".join(f'#include "{name}"\n' for name in files), encoding="utf-8")
    return unit


def units(folder, flags, files):
    """Splits the files into units that compile; a file that clashes with those before it waits for the next."""
    while files:
        unit_files, files = files[:TOGETHER], files[TOGETHER:]
        while True:
            unit = write_unit(folder, unit_files)
            if len(unit_files) == 1:
                break
            done = subprocess.run([program("clang++"), *flags, *EXTRA, "-w", "-fsyntax-only", unit], text=True,
                                  capture_output=True, check=False)
            if done.returncode == 0:
                break
            clashing = {line.split(":")[0] for line in done.stderr.splitlines() if ": error: redefinition" in line}
            clashing = clashing & set(unit_files[1:]) or {unit_files[-1]}
            files += [name for name in unit_files if name in clashing]
            unit_files = [name for name in unit_files if name not in clashing]
        yield unit, unit_files


def tidy(unit, flags, files):
    start = time.monotonic()
    done = subprocess.run(
        [program("clang-tidy"), "--quiet", f"--config-file={ROOT}/.clang-tidy", f"--header-filter={OWN_FILES}", unit,
         "--", *flags, *EXTRA], text=True, capture_output=True, check=False)
    names = " ".join(os.path.basename(name) for name in files)
    print(f"  {time.monotonic() - start:5.1f} s  {'ok   ' if done.returncode == 0 else 'WRONG'} {names}", flush=True)
    if done.returncode:
        print(done.stdout, done.stderr, flush=True)
    return done.returncode == 0


def main(arguments):
    if not arguments or not is_clang_tidy():
        print("clang-tidy is not installed, or what stands in its place is not it" if arguments else __doc__, file=sys.stderr)
        return 2
    build = Path(arguments[0]).resolve()
    only = {str(Path(name).resolve()) for name in arguments[1:]}
    with tempfile.TemporaryDirectory(prefix="tidy-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        def target(group):
            return [tidy(unit, group[0], files) for unit, files in units(folder, *group)]
        results = [ok for group in pool.map(target, sources(build, only).items()) for ok in group]
    print(f"clang-tidy: {len(results)} units, {results.count(False)} with findings")
    return 0 if all(results) and (results or only) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
