"""A command run once: how long it took, of the wall and of CPU, and the most memory. Of the latter
some 15 MB are those of the script that runs it."""

import os
import subprocess
import time


def run(command, folder=None):
    """@return seconds of the wall and of CPU, and bytes at most, mapped pages included"""
    begun = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def print_run(what, command, folder=None, lines=0):
    seconds, cpu, memory = run(command, folder)
    rate = f"{lines / seconds:12.0f} lines/s" if lines else ""
    print(f"{what:34}{seconds:8.2f} s wall{cpu:8.2f} s CPU{memory / 1e6:8.0f} MB{rate}", flush=True)
