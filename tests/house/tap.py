"""Test cases of the house: functions whose names begin with test_, run and printed as TAP."""

import subprocess
import sys
import traceback


def run(*command, **options):
    """The output of a command; it fails the test case with what the command said."""
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        **options,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
    return done.stdout


def main(module):
    cases = [(name[5:], case) for name, case in vars(module).items() if name.startswith("test_")]
    print(f"1..{len(cases)}")
    failed = 0
    for number, (name, case) in enumerate(cases, 1):
        try:
            case()
            print(f"ok {number} - {name}")
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}")
            print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
        sys.stdout.flush()
    return failed != 0
