#!/usr/bin/env python3
"""One call of doppel fails, is cut short, or is its last, each time another one: the run ends with
a sentence and 2 or 3, or does what it does else; nothing is lost, and the next run does the rest.

Usage: faults.py [OPTION]... DOPPEL SHIM [VERB]...
  --most N      faults of a kind, of one call in one verb (default: 8)
  --total N     of a verb, drawn of all (default: all of them)
  --fault TEXT  this one alone, as "open 23 EMFILE"
  --kills N     instead: of each verb that writes, N runs are killed
  --media DEMO  audio and video, too, which doppel-demo makes"""

import argparse
import collections
import dataclasses
import errno
import random
import subprocess
import sys

from fault_scene import VERBS, Scene, between, named_verbs, nothing_state, sentence_of

NO_SPACE = ("ENOSPC", "EDQUOT", "EROFS")
# How each call fails; what ends with + goes on failing, as on a full disk.
WAYS = {
    "malloc": ("ENOMEM",),
    "calloc": ("ENOMEM",),
    "realloc": ("ENOMEM",),
    "aligned_alloc": ("ENOMEM",),
    "open_memstream": ("ENOMEM",),
    "open": ("EMFILE", "EROFS", "EINTR", "ENOSPC"),
    "openat": ("EMFILE", "EACCES", "EINTR"),
    "fopen": ("EMFILE", "ENOSPC"),
    "fdopen": ("ENOMEM",),
    "opendir": ("EMFILE", "EACCES"),
    "fdopendir": ("ENOMEM",),
    "readdir": ("EIO",),
    "scandir": ("EMFILE",),
    "dup": ("EMFILE",),
    "pipe2": ("EMFILE",),
    "socketpair": ("EMFILE",),
    "memfd_create": ("EMFILE",),
    "tmpfile": ("EROFS",),
    "mkostemp": ("EROFS", "EMFILE"),
    "mkdtemp": ("ENOSPC", "EROFS"),
    "read": ("EIO", "EINTR", "short"),
    "pread": ("EIO", "EINTR", "short"),
    "fread": ("EIO",),
    "getdelim": ("EIO", "ENOMEM"),
    "fstat": ("EIO",),
    "stat": ("EIO",),
    "lstat": ("EIO",),
    "fstatat": ("EIO",),
    "statvfs": ("EIO",),
    "lseek": ("EIO",),
    "readlink": ("EIO",),
    "readlinkat": ("EIO",),
    "realpath": ("EIO",),
    "getcwd": ("ENOENT",),
    "getrandom": ("ENOSYS",),
    "fgetxattr": ("EIO",),
    "flistxattr": ("EIO",),
    "mmap": ("ENOMEM",),
    "mprotect": ("ENOMEM",),
    "flock": ("ENOLCK", "EINTR"),
    "lock": ("ENOLCK", "EINTR"),
    "posix_spawn": ("EAGAIN", "ENOMEM"),
    "pthread_create": ("EAGAIN",),
    "waitpid": ("EINTR",),
    "poll": ("EINTR", "ENOMEM"),
    "sendmsg": ("EINTR", "ENOBUFS", "EPIPE", "short"),
    "recvmsg": ("EINTR", "ECONNRESET"),
    "send": ("EINTR", "ENOBUFS"),
    "write": ("EIO", "EINTR", "short", *NO_SPACE, "ENOSPC+"),
    "pwrite": ("EIO", "EINTR", "short", *NO_SPACE, "ENOSPC+"),
    "fwrite": ("EIO", "ENOSPC"),
    "fflush": ("EIO", "ENOSPC"),
    "fclose": ("EIO", "EDQUOT"),
    "close": ("EIO", "EINTR"),
    "fsync": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO", "EDQUOT"),
    "ftruncate": ("EIO", "ENOSPC", "EINTR"),
    "posix_fallocate": ("ENOSPC", "EINTR"),
    "fallocate": ("ENOSPC",),
    "rename": NO_SPACE,
    "renameat": NO_SPACE,
    "renameat2": (*NO_SPACE, "EINVAL"),
    "link": ("EMLINK", *NO_SPACE),
    "linkat": ("EMLINK", *NO_SPACE),
    "symlinkat": NO_SPACE,
    "unlink": ("EIO", "EROFS"),
    "unlinkat": ("EIO", "EROFS"),
    "remove": ("EIO", "EROFS"),
    "mkdir": NO_SPACE,
    "rmdir": ("EIO",),
    "fchmod": ("EPERM", "EROFS"),
    "fchown": ("EPERM",),
    "futimens": ("EPERM", "EROFS"),
    "fsetxattr": NO_SPACE,
    "change": ("ENOSPC+", "EROFS+"),
}
# What interrupts these is no failure. A worker knows no signal that could.
TRIED_AGAIN = {
    *((call, "EINTR") for call in ("read", "pread", "write", "pwrite", "sendmsg", "recvmsg",
                                   "poll", "waitpid")),
    *((call, "short") for call in ("read", "pread", "write", "pwrite", "sendmsg")),
}
# Which found something once: these are always tried.
FOUND = {
    "add, worker": ("pread EIO",),  # the PNG was called cut short
    "backup": ("fread EIO",),  # an index of the copy lacked codes
    "groups": ("calloc ENOMEM",),  # an item was called damaged
    "index search": ("pread EIO",),  # the index was called damaged
    "ingest": ("calloc ENOMEM",),  # new where it is a duplicate; codes in the wrong index
    "ingest records": ("realpath EIO",),  # nothing told where the records are
    "scan hardlink": ("realpath EIO",),  # it was left as it is, without a word
    "scan move-to": ("realpath EIO",),  # undo knew no whole path of what was moved
    "undo hardlink": ("pread EINTR",),
    "verify repair": ("pread EINTR", "pread short"),  # a segment was taken for another one
}


def number_of(way):
    return way.rstrip("+") if way in ("short", "kill") else getattr(errno, way.rstrip("+"))


@dataclasses.dataclass
class Fault:
    call: str
    number: int
    way: str

    def setting(self):
        stays = "+" if self.way.endswith("+") else ""
        return f"{self.call} {self.number}{stays} {number_of(self.way)}"

    def __str__(self):
        return f"{self.call} {self.number} {self.way}"


# ---- one run ----


@dataclasses.dataclass
class Whole:
    """A run without a fault."""

    ran: object
    before: set
    after: set
    counts: dict


def whole_run(scene, verb):
    scene.begin(verb)
    before = verb.state(scene)
    ran = scene.doppel_runs(verb.arguments, "", verb.program)
    assert ran.returncode in (0, 1), (verb.name, sentence_of(ran))
    counts = scene.count()
    return Whole(ran, before, verb.state(scene), counts)


def check_end(ran, verb, whole, fault):
    """That it ended by the contract of exit codes."""
    said = sentence_of(ran)
    assert ran.returncode >= 0, f"signal {-ran.returncode}: {said}"
    assert ran.returncode in (whole.ran.returncode, 2, 3), f"exit {ran.returncode}: {said}"
    failed = ran.returncode != whole.ran.returncode
    assert not failed or "doppel: " in said, f"exit {ran.returncode}, no sentence: {said!r}"
    for blame in ("damaged", "cut short", "astray"):
        assert blame not in said, f"a file is blamed: {said}"
    if failed:
        no_failure = verb.program == "doppel" and (fault.call, fault.way) in TRIED_AGAIN
        assert not no_failure, f"not tried again: {said}"
    elif not verb.measures:
        assert ran.stdout == whole.ran.stdout or "doppel: " in said, \
            f"silently other: {ran.stdout!r} for {whole.ran.stdout!r} {said}"


def check_rest(scene, verb, whole):
    """What is there is as before, as after, or on the way; and another run does the rest."""
    now = verb.state(scene)
    assert between(now, whole.before, whole.after), \
        f"neither before nor after: {now ^ whole.before} {now ^ whole.after}"
    if now != whole.after or verb.again:
        # What fails in a worker is remembered of its file.
        retry = [] if verb.program == "doppel" else ["--retry"]
        ran = scene.doppel_runs(verb.arguments + retry)
        said = sentence_of(ran)
        is_gone = ran.returncode == 3 and "no such item" in said  # one of several to remove
        assert ran.returncode == 0 or is_gone or not whole.after and ran.returncode == 1, \
            f"the next run ends with {ran.returncode}: {said}"
    if now != whole.after:
        now = verb.state(scene)
    assert now == whole.after, f"the next run leaves {now ^ whole.after}"
    if verb.after:
        verb.after(scene)


def problem_of(scene, verb, whole, fault):
    """What is wrong with a run in which a call failed; None: nothing."""
    scene.begin(verb)
    try:
        ran = scene.doppel_runs(verb.arguments, fault.setting(), verb.program)
        if fault.way == "kill":
            assert ran.returncode in (-9, whole.ran.returncode), f"exit {ran.returncode}"
        else:
            check_end(ran, verb, whole, fault)
        if verb.state is not nothing_state:
            check_rest(scene, verb, whole)
    except subprocess.TimeoutExpired as late:
        return f"hangs: {late.cmd[1:]}"
    except AssertionError as wrong:
        return str(wrong)
    return None


# ---- many runs ----


def spread(count, most):
    """Numbers from 1 to count, the first and last among them."""
    if count <= most:
        return range(1, count + 1)
    return sorted({1 + i * (count - 1) // max(most - 1, 1) for i in range(most)})


def faults_of(verb, whole, options):
    if options.fault:
        call, number, way = options.fault.split()
        return [Fault(call, int(number), way)]
    found = [Fault(call, number, way)
             for call, ways in WAYS.items()
             for way in ways
             for number in spread(whole.counts[call], options.most)]
    if options.total and len(found) > options.total:
        again = [fault for fault in found
                 if f"{fault.call} {fault.way}" in FOUND.get(verb.name, ())]
        others = [fault for fault in found if fault not in again]
        drawn = max(options.total - len(again), 0)
        found = again + random.Random(len(found)).sample(others, drawn)
    return found


def kills_of(whole, options):
    return [Fault("change", number, "kill")
            for number in spread(whole.counts["change"], options.kills)]


def try_verb(scene, verb, options, counted):
    whole = whole_run(scene, verb)
    faults = kills_of(whole, options) if options.kills else faults_of(verb, whole, options)
    for fault in faults:
        counted[verb.name, fault.call, fault.way] += 1
        problem = problem_of(scene, verb, whole, fault)
        if problem:
            yield f"{verb.name}: {fault} of {whole.counts[fault.call]}: {problem}"


def print_counts(counted):
    for place, what in ((0, "verb"), (1, "call"), (2, "how")):
        sums = collections.Counter()
        for key, count in counted.items():
            sums[key[place]] += count
        print(f"by {what}:", ", ".join(f"{name} {count}" for name, count in sums.items()))
    print(sum(counted.values()), "runs in all")


def read_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name in ("doppel", "shim"):
        parser.add_argument(name)
    parser.add_argument("verbs", nargs="*")
    parser.add_argument("--most", type=int, default=8)
    parser.add_argument("--total", type=int)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--fault")
    parser.add_argument("--media")
    return parser.parse_args()


def main():
    options = read_options()
    verbs = named_verbs(VERBS, options.verbs)
    scene, counted, problems = Scene(options), collections.Counter(), 0
    try:
        for verb in verbs:
            writes = verb.state is not nothing_state
            if options.kills and not (writes and verb.program == "doppel"):
                continue
            for problem in try_verb(scene, verb, options, counted):
                print(problem, flush=True)
                problems += 1
            print(verb.name, flush=True)
    finally:
        scene.end()
    print_counts(counted)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
