#!/usr/bin/env python3
"""The schedulers of docs/guide/batches.md run a dedup in stages as they are written there: GNU
parallel, make, and Slurm, of which a machine is started here. Those that are not installed, or
cannot be started, are skipped.

`schedulers.py BUILD`
"""

import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))
import tap  # noqa: E402

BUILD = pathlib.Path(sys.argv[1]).resolve()
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide" / "batches.md"
RECORDS = 600
PATH = f"{BUILD}:{os.environ['PATH']}:/usr/sbin:/sbin"


def find(program):
    return shutil.which(program, path=PATH)


def block_of(heading, language):
    """What stands below a heading of the guide."""
    section = GUIDE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)[1]


def write_shards(folder):
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghij", k=5)) for _ in range(500)]
    texts = [chance.choices(words, k=30) for _ in range(RECORDS)]
    for i in range(0, RECORDS, 3):
        texts[i] = chance.choice(texts)[: chance.randrange(20, 31)]
    (folder / "shards").mkdir()
    for shard in range(3):
        with open(folder / "shards" / f"{shard}.jsonl", "w") as file:
            for i in range(shard, RECORDS, 3):
                print(json.dumps({"id": f"r{i}", "text": " ".join(texts[i])}), file=file)
            print("no record" if shard == 1 else "", file=file)


class Place:
    """A folder with shards, and what one dedup prints of them."""

    def __enter__(self):
        self.held = tempfile.TemporaryDirectory(prefix="doppel-schedulers-")
        self.folder = pathlib.Path(self.held.name)
        self.environment = dict(os.environ, PATH=PATH, HOME=str(self.folder))
        write_shards(self.folder)
        once = self.run("doppel", "dedup", "-q", "shards", "--emit", "unique", code=3)
        self.wanted = once.stdout
        return self

    def __exit__(self, *reason):
        self.held.cleanup()

    def run(self, *words, code=0, timeout=100):
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, timeout=timeout
        )
        assert done.returncode == code, (words, done.returncode, done.stdout, done.stderr)
        return done

    def check(self):
        assert (self.folder / "unique.jsonl").read_bytes() == self.wanted


def test_parallel():
    if not find("parallel"):
        print("# skipped: GNU parallel is not installed")
        return
    with Place() as place:
        place.run("sh", "-c", block_of("GNU parallel", "sh"))
        place.check()


def test_make():
    with Place() as place:
        (place.folder / "Makefile").write_text(block_of("make", "make"))
        (place.folder / "work").mkdir()
        place.run("make", "-j", "2")
        place.check()
        for name in ("sign-0016-of-0016", "join-0002-of-0004", "compare-0003-of-0016"):
            assert (place.folder / "work" / name).exists(), name
        (place.folder / "work" / "emit-unique-0007-of-0016.jsonl.xxh128").unlink()
        (place.folder / "unique.jsonl").unlink()
        place.run("make", "-j", "2")
        place.check()


# ---- Slurm ----


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


CONFIGURATION = """
ClusterName=stages
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Slurm:
    """A cluster of this machine alone, in a folder of its own."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.configuration = folder / "slurm.conf"
        for name in ("state", "spool"):
            (folder / name).mkdir()
        self.configuration.write_text(
            CONFIGURATION.format(
                host=socket.gethostname().split(".")[0],
                folder=folder,
                controller=free_port(),
                node=free_port(),
            )
        )

    def start(self, *words):
        log = open(self.folder / f"{words[0]}.log", "wb")
        environment = dict(os.environ, SLURM_CONF=str(self.configuration), PATH=PATH)
        self.processes.append(
            subprocess.Popen(words, stdout=log, stderr=log, env=environment, cwd=self.folder)
        )

    def is_idle(self):
        environment = dict(os.environ, SLURM_CONF=str(self.configuration), PATH=PATH)
        said = subprocess.run(
            ["sinfo", "-h", "-o", "%T"], env=environment, capture_output=True, timeout=30
        )
        return said.stdout.strip() == b"idle"

    def __enter__(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        self.start("munged", "--foreground", "--force", f"--key-file={key}",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                   f"--log-file={self.folder}/munge.log",
                   f"--seed-file={self.folder}/munge.seed")  # fmt: skip
        time.sleep(0.5)
        self.start("slurmctld", "-D", "-i", "-f", str(self.configuration))
        self.start("slurmd", "-D", "-f", str(self.configuration))
        end = time.monotonic() + 20
        while time.monotonic() < end and not self.is_idle():
            time.sleep(0.3)
        return self

    def __exit__(self, *reason):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def test_slurm():
    programs = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
    if os.getuid() != 0 or not all(map(find, programs)):
        print("# skipped: Slurm is not installed, or the user is not root")
        return
    with Place() as place, tempfile.TemporaryDirectory(prefix="doppel-slurm-") as held:
        with Slurm(pathlib.Path(held)) as slurm:
            if not slurm.is_idle():
                print("# skipped: Slurm cannot be started here")
                return
            place.environment["SLURM_CONF"] = str(slurm.configuration)
            place.run("sh", "-c", block_of("Slurm", "sh"), timeout=200)
            place.check()


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
