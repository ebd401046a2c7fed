#!/usr/bin/env python3
"""Static analysis of the product's sources: gcc -fanalyzer, clang-tidy and cppcheck, with what each
found, and a line of counts. Usage:

run.py BUILD [PATH...]    a folder configured with meson; sources whose names begin with a PATH

What is looked for, and what is not and why, stands in .clang-tidy and below. A finding that is
wrong is suppressed where it is, with the reason: NOLINT(check), cppcheck-suppress, or a #pragma.
A source in which a tool found nothing is not looked at again before it, a header of it or the tool
changes: ~/.cache/doppel-static has an empty file for each, and may be deleted.
Exit code 1 when there are findings, 2 when a tool is missing."""

import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]

GCC = [
    "-fanalyzer",
    # Of inlined and unrolled code GCC 12 knows less.
    "-O0",
    "-U_FORTIFY_SOURCE",
    "-fdiagnostics-plain-output",
    # It loses track of arrays that a loop fills, and of pointers that lie in what is given back.
    # Clang looks for both, and the suite runs under LeakSanitizer.
    "-Wno-analyzer-use-of-uninitialized-value",
    "-Wno-analyzer-malloc-leak",
    # Of a stream that is closed unless it is stdin, it takes what was opened for stdin.
    "-Wno-analyzer-file-leak",
]
CPPCHECK = [
    "--enable=warning,portability",
    "--inline-suppr",
    "--std=c11",
    "--library=posix,gnu",
    # What jansson walks an object and an array with, near enough (a `;` would end the definition).
    "-Djson_object_foreach(object,key,value)=while((key=next_key(object,&value)))",
    "-Djson_array_foreach(array,index,value)=while((value=json_array_get(array,index)))",
    # It follows neither TRY (core/try.h) nor what a function gives back through `out`; it takes
    # that for never made, or for lost. Clang looks for the same, and LeakSanitizer.
    "--suppress=uninitvar",
    "--suppress=uninitStructMember",
    "--suppress=ctuuninitvar",
    "--suppress=memleak",
    "--suppress=resourceLeak",
    "--suppress=leakReturnValNotUsed",
    # A pointer to a local variable that a call uses until it returns.
    "--suppress=autoVariables",
    # glibc's readdir is for a stream that one thread has; readdir_r is deprecated.
    "--suppress=readdirCalled",
    # A bool as the last number of a loop.
    "--suppress=compareBoolExpressionWithInt",
    "--quiet",
    "--template={file}:{line}: {severity}: {message} [{id}]",
]
FINDING = re.compile(r"^\S+?:\d+(:\d+)?: (warning|error|portability): .*\[[-\w.,]+\]$")

MODEL = TOP / "tests/static/model.h"
# Defines what the model says.
WITHOUT_MODEL = "core/status.c"

CACHE = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
CLEAN = pathlib.Path(CACHE, "doppel-static")


def sources(build, prefixes):
    """Of each source of the product, how it is compiled."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(os.path.normpath(build / entry["file"]))
        if path.is_relative_to(build) or entry["output"].startswith("tests/"):
            continue
        name = str(path.relative_to(TOP))
        if not name.startswith("tests/") and name.startswith(prefixes):
            found.setdefault(name, entry)
    return found


def compiler(entry):
    """The command that compiles it, without what it writes."""
    words = [word for word in shlex.split(entry["command"]) if word not in ("ccache", "-MD")]
    words[words.index("-o") + 1] = "/dev/null"
    for option in ("-MQ", "-MF"):
        at = words.index(option)
        del words[at : at + 2]
    return words


def findings(command, folder):
    done = subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    found = {
        re.sub(rf"({TOP}/|\.\./|build/(?=[a-z.]))+", "", line)
        for line in done.stdout.splitlines()
        if FINDING.match(line) or "[clang-diagnostic-error]" in line
    }
    if done.returncode and not found:  # it did not get so far
        found.add(f"exit code {done.returncode}: {done.stdout.strip()[-300:]}")
    return found


def model(name, entry):
    if name == WITHOUT_MODEL:
        return []
    folders = f"{TOP}/include", f"{entry['directory']}/include", TOP
    return ["-include", str(MODEL), *(f"-I{folder}" for folder in folders)]


def gcc(name, entry):
    if not name.endswith(".c"):  # GCC 12 knows C alone
        return set()
    found = findings([*compiler(entry), *GCC, *model(name, entry)], entry["directory"])
    # Other warnings are those of the build.
    return {line for line in found if " warning: " not in line or "[-Wanalyzer" in line}


def tidy(name, entry):
    """With a database of this one command: else a file is looked at once for each of its own."""
    with tempfile.TemporaryDirectory() as folder:
        # clang 14 wants to be begged for it.
        command = entry["command"].replace("-ftrivial-auto-var-init=zero", "")
        database = pathlib.Path(folder, "compile_commands.json")
        database.write_text(json.dumps([{**entry, "command": command}]))
        extra = [f"--extra-arg={word}" for word in model(name, entry)]
        return findings(["clang-tidy", "-p", folder, "--quiet", *extra, TOP / name], TOP)


def cppcheck(name, entry):
    ours = [
        word for word in shlex.split(entry["command"]) if re.match(r"-[DU]|-I(\.\.|include$)", word)
    ]
    return findings(["cppcheck", *CPPCHECK, *ours, entry["file"]], entry["directory"])


TOOLS = {"gcc": gcc, "clang-tidy": tidy, "cppcheck": cppcheck}


@functools.cache
def setting(tool):
    """All but the source that says what a tool finds."""
    version = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, check=True).stdout
    options = {"gcc": repr(GCC), "clang-tidy": (TOP / ".clang-tidy").read_text()}
    return version + options.get(tool, repr(CPPCHECK)).encode() + MODEL.read_bytes()


@functools.cache
def preprocessed(name, command, folder):
    """With its comments, for some suppress findings."""
    words = [*command, "-E", "-P", "-CC", "-dD"]
    words[words.index("-o") + 1] = "-"
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, check=True)
    return hashlib.sha256(done.stdout).digest()


def look_at(tool, name, entry):
    """What the tool finds, or nothing if this source was clean before."""
    text = preprocessed(name, tuple(compiler(entry)), entry["directory"])
    digest = hashlib.sha256(text + entry["command"].encode() + setting(tool))
    stamp = CLEAN / f"{tool}-{digest.hexdigest()}"
    if stamp.exists():
        return set()
    found = TOOLS[tool](name, entry)
    if not found:
        stamp.touch()
    return found


def main(build, *prefixes):
    looked_at = sources(pathlib.Path(build).resolve(), prefixes or "")
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing or not looked_at:
        print(f"missing: {', '.join(missing)}" if missing else "no such sources", file=sys.stderr)
        return 2
    CLEAN.mkdir(parents=True, exist_ok=True)
    counts = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for tool in TOOLS:
            seen = set()
            for lines in pool.map(lambda item: look_at(tool, *item), looked_at.items()):
                for line in sorted(lines - seen):
                    print(f"{tool}: {line}", flush=True)
                seen |= lines
            counts[tool] = len(seen)
    told = ", ".join(f"{tool} {count}" for tool, count in counts.items())
    print(f"{len(looked_at)} sources; findings: {told}")
    return 1 if any(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
