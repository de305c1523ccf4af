#!/usr/bin/env python3
"""Holds the arrows between the rooms: fails on an #include that points the wrong way, and on what a room may not do.

    layering.py [ROOT]

One table below says for each room what it may see; a new room has no arrows until it has a line here.
"""
import re
import subprocess
import sys
from pathlib import Path

# The rooms whose functions depend on their arguments alone: no file, no clock, no environment.
PURE = {"facts", "policy", "nccl", "checks", "verdict", "env", "act", "report"}
# What of common/base is pure too; the rest of it reads files and runs workers.
PURE_BASE = {"common/base/glob.hpp", "common/base/result.hpp", "common/base/text.hpp"}

ROOMS = {
    "common/base": set(),
    "common/facts": {"base"},
    "common/probe": {"base", "facts"},
    "common/probe_lib": {"base", "facts"},
    "common/policy": {"base"},
    "common/nccl": {"base", "facts"},
    "common/checks": {"base", "facts", "nccl", "policy"},
    "common/verdict": {"base", "facts", "nccl", "policy", "checks"},
    "common/env": {"base", "facts", "nccl", "policy"},
    "common/act": {"base", "facts", "policy", "checks", "verdict"},
    "common/state": {"base"},
    "common/snapshot": {"base", "facts", "probe"},
    "common/report": {"base", "facts", "nccl", "policy", "checks", "verdict", "env"},
    "spank": {"base", "state"},
    "prolog": {"base", "facts", "probe", "probe_lib", "policy", "nccl", "checks", "verdict", "env", "act", "state",
               "snapshot", "report"},
}

# Header of a library -> the only files that may include it.
LIBRARIES = [
    (r"toml\+\+/", r"common/policy/[^/]+"),
    (r"nlohmann/", r"common/(report|snapshot|state)/[^/]+"),
    (r"pugixml", r"common/probe/[^/]+"),
    (r"CLI/", r"prolog/.+"),
    (r"archive(_entry)?\.h", r"common/snapshot/[^/]+"),
    (r"slurm/spank\.h", r"spank/[^/]+"),
    (r"slurm/(?!spank\.h)", r"prolog/slurm/[^/]+"),
    (r"infiniband/", r"common/probe_lib/verbs\.cpp"),
    (r"cuda", r"common/probe_lib/cuda\.cpp"),
    (r"nccl\.h", r"common/probe_lib/nccl\.cpp"),
    (r"libkmod\.h", r"common/probe_lib/kmod\.cpp"),
    (r"dlfcn\.h", r"common/(snapshot|probe_lib)/[^/]+"),
]

OUTSIDE_WORLD = re.compile(r"(unistd|fcntl|dirent|time|signal|spawn|poll|pthread|stdio)\.h|sys/|linux/|"
                           r"(fstream|iostream|filesystem|cstdio|chrono|ctime|thread|mutex|random|future)$")
# Nothing here may run a shell, and only a program that execs sets variables, in the environment it hands over.
FORBIDDEN_CALLS = re.compile(r"(?<![\w.>])(?:std::|::)?(system|popen|setenv|putenv|unsetenv|gets|strcpy|sprintf)\s*\(")
PURE_FORBIDDEN_CALLS = re.compile(r"(?<![\w.>])(?:std::|::)?(getenv|open|fopen|time|clock_gettime|gethostname)\s*\(")

# A file's paths are those of the systems it speaks of; one that begins elsewhere is of somebody's own machine.
SYSTEM_FOLDERS = {"bin", "boot", "dev", "etc", "home", "lib", "lib64", "mnt", "opt", "proc", "root", "run", "sbin", "sys", "tmp",
                  "usr", "var", "build"}
ABSOLUTE_PATH = re.compile(r"(?<![\w.*)}\]>\"'/$@:+-])/([a-z][a-z0-9_.]*)/\w")
PARENT_PATH = re.compile(r"(?<![\w./])((?:\.\./)+)\w")

LONGEST_SOURCE, LONGEST_TEST = 410, 460
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^">]+)[">]')
SOURCE = (".cpp", ".hpp", ".c", ".h")


def tracked_files(root):
    listed = subprocess.run(["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:  # an unpacked archive
        names = [str(path.relative_to(root)) for path in Path(root).rglob("*")]
    return sorted(name for name in set(names) if (Path(root) / name).is_file() and not name.startswith("build"))


def room_of(name):
    parts = name.split("/")
    return "/".join(parts[:2]) if parts[0] == "common" else parts[0]


def without_comments_and_strings(text):
    """The same lines, with comments and the inside of string literals taken out."""
    pattern = re.compile(r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
    return pattern.sub(lambda match: '""' + "\n" * match.group(0).count("\n"), text)


def wrong_include(name, room, kind, header):
    """Why this include is wrong, or None."""
    if room == "tests":
        return None
    for library, allowed in LIBRARIES:
        if re.match(library, header) and not re.fullmatch(allowed, name):
            return f"only {allowed} may include it"
    short = room.removeprefix("common/")
    if kind == "<":
        if short in PURE and OUTSIDE_WORLD.match(header):
            return f"{room} knows no file, clock or environment"
        return None
    if "/" not in header:
        return "includes are written from the top of the repository"
    other = room_of(header)
    if other == room:
        return None
    if other not in ROOMS or not other.startswith("common/"):
        return f"{room} may not see {other}"
    if other.removeprefix("common/") not in ROOMS[room]:
        return f"{room} may not see {other}"
    if short in PURE and other == "common/base" and header not in PURE_BASE:
        return f"{room} may use only {', '.join(sorted(PURE_BASE))} of common/base"
    return None


def check_source(name, text):
    room = room_of(name)
    if room != "tests" and room not in ROOMS:
        yield f"{name}: {room} has no line in the table of rooms"
        return
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        why = wrong_include(name, room, *include.groups()) if include else None
        if why:
            yield f"{name}:{number}: {include.group(2)}: {why}"
    lines, most = text.count("\n"), LONGEST_TEST if room == "tests" else LONGEST_SOURCE
    if lines > most:
        yield f"{name}: {lines} lines, more than {most}: it is two files"
    if room == "tests":
        return
    for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
        call = FORBIDDEN_CALLS.search(line)
        if not call and room.removeprefix("common/") in PURE:
            call = PURE_FORBIDDEN_CALLS.search(line)
        if call:
            yield f"{name}:{number}: {call.group(1)}() has no place in {room}"


def check_paths(name, text):
    depth = name.count("/")
    for number, line in enumerate(text.splitlines(), 1):
        for match in ABSOLUTE_PATH.finditer(line):
            if match.group(1) not in SYSTEM_FOLDERS:
                yield f"{name}:{number}: /{match.group(1)}/…: a path of somebody's own machine"
        if name.endswith((".md", ".cmake", ".txt")):
            for match in PARENT_PATH.finditer(line):
                if match.group(1).count("..") > depth:
                    yield f"{name}:{number}: {match.group(0)}…: leads out of the repository"


def main(arguments):
    root = arguments[0] if arguments else str(Path(__file__).resolve().parents[2])
    wrong, sources = [], 0
    for name in tracked_files(root):
        try:
            text = (Path(root) / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # an archive or a picture
        if name.endswith(SOURCE):
            sources += 1
            wrong += check_source(name, text)
        wrong += check_paths(name, text)
    for text in wrong:
        print(text)
    print(f"{sources} sources, {len(wrong)} wrong")
    return 1 if wrong or not sources else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
