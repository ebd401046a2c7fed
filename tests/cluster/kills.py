#!/usr/bin/env python3
"""kill -9 of masters, again and again, while codes are added, removed and searched for: what a
replica had acknowledged (WAIT 1) is lost never, and all goes on within seconds. Every other master
is cut off from its replica before: what it took then is lost, and was not acknowledged. One of two
searchers asks replicas.

usage: kills.py BUILD [KILLS]"""

import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "house"))

import tap
from cluster_client import ClusterClient
from load import Loader, Oracle, Searcher, check_all, create_shards
from replicas import ReplicatedCluster

BUILD = pathlib.Path(sys.argv[1]).resolve()
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
OUTAGE_MOST_S = 5.0  # where nodes get their processor: of a machine that is overloaded, 15


def outage_most_s():
    return OUTAGE_MOST_S if os.getloadavg()[0] < 2 * os.cpu_count() else 3 * OUTAGE_MOST_S


def kill_masters(cluster, workers, count):
    """@return of each kill, seconds until a replica was promoted."""
    chance = random.Random(count)
    promoted = []
    for number in range(count):
        time.sleep(chance.uniform(0, 0.5))
        victim = chance.choice(cluster.masters())
        _, taken = cluster.fail_over(victim, cut_off=number % 2 == 1)
        promoted.append(taken)
        cluster.wait_whole()
        wait_for_all(workers)
    return promoted


def wait_for_all(workers):
    """Each goes on: what waits longest waits for one kill."""
    before = [worker.steps for worker in workers]
    end = time.monotonic() + 60
    while any(worker.steps < steps + 2 for worker, steps in zip(workers, before)):
        failed = [worker.failure for worker in workers if worker.failure]
        assert not failed, failed
        assert time.monotonic() < end, "a worker does not go on"
        time.sleep(0.01)


def test_masters_are_killed_under_load():
    with tempfile.TemporaryDirectory() as folder:
        cluster = ReplicatedCluster(BUILD, pathlib.Path(folder))
        oracle = Oracle()
        create_shards(ClusterClient(cluster.ports()))
        kinds = ((Loader, False), (Loader, False), (Searcher, False), (Searcher, True))
        workers = [
            kind(oracle, ClusterClient(cluster.ports(), replicas=replicas), number)
            for number, (kind, replicas) in enumerate(kinds)
        ]
        for worker in workers:
            worker.start()
        promoted = kill_masters(cluster, workers, KILLS)
        for worker in workers:
            worker.end()
        kept = check_all(oracle, ClusterClient(cluster.ports()))
        report(workers, promoted, kept)
        assert max(worker.slowest for worker in workers) <= outage_most_s()
        cluster.stop()


def report(workers, promoted, kept):
    loads = max(worker.slowest for worker in workers if isinstance(worker, Loader))
    searches = max(worker.slowest for worker in workers if isinstance(worker, Searcher))
    asked = sum(worker.done for worker in workers if isinstance(worker, Searcher))
    print(f"# {len(promoted)} kills; a replica was promoted after {min(promoted):.1f} to "
          f"{max(promoted):.1f} s")  # fmt: skip
    print(f"# {kept} codes kept, none lost; longest wait: {loads:.1f} s to add, {searches:.1f} s "
          f"to search; {asked} searches")  # fmt: skip


if __name__ == "__main__":
    sys.exit(tap.main(sys.modules[__name__]))
