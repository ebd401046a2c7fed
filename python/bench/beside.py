"""What the benches of the package share: the package as BUILD has it, and two sides in turns."""

import pathlib
import resource
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "python" / "tests"))

from run import stage  # noqa: E402


def use_build():
    """The build folder, the first argument; its package is what `import doppel` finds then."""
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD [NUMBER...]")
    build = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(stage(build)))
    return build


def number(place, default):
    """Of the arguments after BUILD."""
    return int(sys.argv[1 + place]) if len(sys.argv) > 1 + place else default


def cpu():
    """Seconds of this process, and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in used)


def cpu_of(work):
    began = cpu()
    work()
    return cpu() - began


def in_turns(ours, theirs, rounds):
    """The least that each took of so many rounds: what others do on the machine adds, only."""
    took = [(ours(), theirs()) for _ in range(rounds)]
    return min(a for a, _ in took), min(b for _, b in took)


def row(*cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |", flush=True)
