"""The command, in a home of its own."""

import os
import subprocess


def program(build, folder):
    """A function that runs doppel in a folder, expects an exit code, and gives what was printed and
    what was reported."""
    names = ("CACHE", "DATA", "STATE", "CONFIG")
    home = {f"XDG_{name}_HOME": str(folder / ".home") for name in names}

    def doppel(*words, code=0, cwd=folder):
        done = subprocess.run(
            [build / "doppel", *words],
            capture_output=True,
            cwd=cwd,
            env=dict(os.environ, **home),
            text=True,
        )
        assert done.returncode == code, (words, done.returncode, done.stderr)
        return done.stdout, done.stderr

    return doppel
