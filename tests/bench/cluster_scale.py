#!/usr/bin/env python3
"""What a cluster of 1, 10 and 100 billion codes needs: measured on one node, computed from there.

usage: cluster_scale.py BUILD [--codes N] [--searches N] [--save FILE | --use FILE] [ASSUMPTION]...

A node of this machine is filled with a third, two thirds and all of N codes of 64 bits (16 M), in
1 024 shards; searched one at a time and in batches; saved; and a shard is taken out and put back.
The times of single searches are what the simulation of many nodes draws from. `--save` keeps what
was measured, and `--use` computes with it again. Assumptions, with their defaults:

  --node-gb 64 --cores 8 --price 294   a machine: memory, processors, USD a month
  --fill .5                            of its memory, how much codes may take
  --copies 2                           a master and its replicas
  --busy .5                            of its processors, how much searches may take
  --network-ms .2 --network-mb 1000    there and back; a second, of a node
  --client-us 5                        of a client's CPU, for one request and its answer
"""

import argparse
import bisect
import json
import math
import os
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cluster"))

from redis import SLOTS, Server, encode, slot_of

SHARDS, DESIGN, BATCH, PIECE = 1024, 8, 1024, 4096
BILLION = 10**9


def percentile(ordered, share):
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


# ---- one node, measured


def key_of(shard):
    return f"doppel:{{{shard}}}"


def make_shards(client):
    for shard in range(SHARDS):
        client.run("DOPPEL.CREATE", key_of(shard), "TABLE", "HAMMING", "RADIUS", DESIGN, "FAMILY",
                   "scale", "SHARD", shard)  # fmt: skip


def add_codes(client, key, first, count):
    for at in range(first, first + count, PIECE):
        some = min(PIECE, first + count - at)
        payloads = b"".join(number.to_bytes(8, "little") for number in range(at, at + some))
        client.run("DOPPEL.ADD", key, "PACKED", payloads + random.randbytes(some * 8))


def search_command(radius, count):
    return encode(("DOPPEL.SEARCH", key_of(0), "RADIUS", radius, "NODE", "PACKED",
                   random.randbytes(8 * count)))  # fmt: skip


def times_of_searches(client, radius, count, each=1):
    """Of commands one after the other, in ms."""
    times = []
    for command in [search_command(radius, each) for _ in range(count)]:
        start = time.perf_counter()
        client.socket.sendall(command)
        answer = client.read()
        times.append((time.perf_counter() - start) * 1e3)
        assert isinstance(answer, list), answer
    return times


def cpu_of(server):
    """Seconds that the process has used."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu_a_search(server, client, radius, each):
    """In µs, of the server alone, whose clock has steps of 10 ms."""
    before, done = cpu_of(server), 0
    while cpu_of(server) - before < 0.6:
        times_of_searches(client, radius, 8, each)
        done += 8 * each
    return (cpu_of(server) - before) / done * 1e6


def memory_of(client):
    info = client.run("DOPPEL.INFO", key_of(0))
    return dict(zip(info[::2], info[1::2]))[b"node_bytes"]


def info_of(client, section, name):
    for line in client.run("INFO", section).decode().splitlines():
        if line.startswith(name + ":"):
            return line.split(":")[1]
    raise KeyError(name)


def wait_for_merges(server):
    """Until it has nothing to do."""
    while True:
        before = cpu_of(server)
        time.sleep(1)
        if cpu_of(server) - before < 0.03:
            return


def measure_size(server, client, codes):
    times_of_searches(client, 3, 200)
    wait_for_merges(server)
    return {
        "codes": codes,
        "bytes_a_code": memory_of(client) / codes + 16,
        "single_us": {radius: cpu_a_search(server, client, radius, 1) for radius in (3, 8)},
        "batched_us": {radius: cpu_a_search(server, client, radius, BATCH) for radius in (3, 8)},
    }  # fmt: skip


def measure_save(server, client, folder):
    start = time.monotonic()
    client.run("BGSAVE")
    while info_of(client, "persistence", "rdb_bgsave_in_progress") == "1":
        time.sleep(0.02)
    taken = time.monotonic() - start
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0]) * 1024
    return {"seconds": taken, "bytes": (folder / "dump.rdb").stat().st_size, "resident": resident,
            "fork_us": int(info_of(client, "stats", "latest_fork_usec"))}  # fmt: skip


def is_restored(client, dumped):
    """A command with a longer string than is allowed ends its connection."""
    try:
        client.send(("RESTORE", "three", 0, dumped))
        return client.read() == "OK"
    except OSError:
        return False


def measure_move(client, codes):
    """What MIGRATE does: a shard is dumped, sent and restored; each step stops the node."""
    client.run("DOPPEL.CREATE", "one", "TABLE", "HAMMING", "RADIUS", DESIGN)
    add_codes(client, "one", 0, codes)
    start = time.monotonic()
    dumped = client.run("DUMP", "one")
    sent = time.monotonic()
    client.run("RESTORE", "two", 0, dumped)
    end = time.monotonic()
    limit = int(client.run("CONFIG", "GET", "proto-max-bulk-len")[1])
    client.run("CONFIG", "SET", "proto-max-bulk-len", "1mb")
    assert not is_restored(client, dumped), "a longer key than the limit was taken"
    return {"codes": codes, "bytes": len(dumped), "dump_s": sent - start, "restore_s": end - sent,
            "limit": limit}  # fmt: skip


def measure(build, codes, searches):
    random.seed(22)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server(build, folder)
        client = server.client(600)
        make_shards(client)
        sizes, there = [], 0
        for goal in (codes // 16, codes // 4, codes):
            each = (goal - there) // SHARDS
            for shard in range(SHARDS):
                add_codes(client, key_of(shard), there + shard * each, each)
            there += each * SHARDS
            sizes.append(measure_size(server, client, there))
        found = {
            "sizes": sizes,
            "times_ms": sorted(times_of_searches(client, 3, searches)),
            "save": measure_save(server, client, folder),
            "move": measure_move(client, codes // 4),
        }
        server.kill()
    return json.loads(json.dumps(found))


def print_measured(found):
    print("measured, on one node of this machine:")
    for size in found["sizes"]:
        single, batched = size["single_us"], size["batched_us"]
        print(f"  {size['codes'] / 1e6:6.2f} M codes: {size['bytes_a_code']:.1f} bytes each; CPU "
              f"of a search, 3 bits {single['3']:.0f} µs, in batches {batched['3']:.2f}; 8 bits "
              f"{single['8']:.0f}, {batched['8']:.1f}")  # fmt: skip
    times, save, move = found["times_ms"], found["save"], found["move"]
    shares = ", ".join(f"p{share * 100:g} {percentile(times, share):.3f}"
                       for share in (0.5, 0.95, 0.99, 0.999, 0.9999))  # fmt: skip
    print(f"  a search of one code, one at a time, ms: {shares} ({len(times)} of them)")
    print(f"  fork: {save['fork_us'] / 1e3:.1f} ms of {save['resident'] / 1e9:.2f} GB; save: "
          f"{save['bytes'] / 1e6:.0f} MB in {save['seconds']:.2f} s")  # fmt: skip
    print(f"  a shard of {move['codes'] / 1e6:.2f} M codes: {move['bytes'] / 1e6:.1f} MB, DUMP "
          f"{move['dump_s'] * 1e3:.0f} ms, RESTORE {move['restore_s'] * 1e3:.0f} ms")  # fmt: skip


# ---- how many nodes


def plan_of(codes, found, options):
    """Masters that hold them, at least three."""
    bytes_a_code = found["sizes"][-1]["bytes_a_code"]
    room = options.node_gb * 1e9 * options.fill
    masters = max(3, math.ceil(codes * bytes_a_code / room))
    return masters, codes / masters, codes * bytes_a_code


def search_us(found, radius, codes):
    """In batches: what is measured at most, and grows with the root of the number beyond."""
    last = found["sizes"][-1]
    return last["batched_us"][radius] * math.sqrt(max(codes / last["codes"], 1))


def print_plan(found, options):
    print(f"computed: {options.node_gb:g} GB and {options.cores} processors a node, "
          f"{options.fill:g} of the memory for codes, {options.busy:g} of the processors for "
          f"searches, {options.copies} copies, {options.price:g} USD a month each")  # fmt: skip
    print("  codes  nodes     memory  codes a node  searches/s, 3 bits  8 bits  CPU of a client"
          "     USD a month")  # fmt: skip
    for billions in (1, 10, 100):
        masters, each, total = plan_of(billions * BILLION, found, options)
        nodes = masters * options.copies
        rates = [options.cores * options.busy / search_us(found, radius, each) * 1e6
                 for radius in ("3", "8")]  # fmt: skip
        print(f"  {billions:3} G {nodes:6} {total * options.copies / 1e12:7.2f} TB "
              f"{each / 1e6:11.0f} M {rates[0]:19,.0f} {rates[1]:7,.0f} "
              f"{masters * options.client_us / 1e3:13.2f} ms {nodes * options.price:15,.0f}")


# ---- the shard map


def fullest(masters, shards, by_slots):
    """Shards of the fullest node, of the mean."""
    counts = [0] * masters
    for shard in range(shards):
        place = slot_of(str(shard)) * masters // SLOTS if by_slots else shard * masters // shards
        counts[place] += 1
    return max(counts) * masters / shards


def print_map():
    print("simulated: shards of the fullest node, of the mean; slots in equal ranges, and by shard")
    for masters in (3, 15, 50, 100, 150, 300):
        row = "   ".join(f"{shards}: {fullest(masters, shards, True):.2f} "
                         f"{fullest(masters, shards, False):.2f}"
                         for shards in (SHARDS, 16 * SHARDS))  # fmt: skip
        print(f"  {masters:4} masters   {row}")


def print_shards(found, options):
    move, save = found["move"], found["save"]
    stop = (move["dump_s"] + move["restore_s"]) / move["codes"]
    size, bytes_a_code = move["bytes"] / move["codes"], found["sizes"][-1]["bytes_a_code"]
    for shards in (SHARDS, 16 * SHARDS):
        print(f"computed: one of {shards} shards that is moved")
        for billions in (1, 10, 100):
            shard = billions * BILLION / shards
            sent = shard * size / options.network_mb / 1e6
            print(f"  {billions:3} G: {shard / 1e6:6.2f} M codes, {shard * size / 1e6:7.1f} MB: "
                  f"{stop * shard + sent:6.2f} s, of which both nodes stand still "
                  f"{stop * shard:5.2f} s"
                  + ", if its length is allowed" * (shard * size > move["limit"]))  # fmt: skip
    print("computed: a node that is saved")
    for billions in (1, 10, 100):
        each = plan_of(billions * BILLION, found, options)[1]
        print(f"  {billions:3} G: {each * size / 1e9:4.1f} GB in "
              f"{each * size * save['seconds'] / save['bytes']:3.0f} s; fork "
              f"{each * bytes_a_code * save['fork_us'] / save['resident'] / 1e3:4.0f} ms")


# ---- all nodes asked, and a second time


class Copies:
    """The masters or the replicas: how long each still works on what it was asked before."""

    def __init__(self, nodes):
        self.left = [0.0] * nodes

    def answer(self, node, waited, service):
        """When a request is answered, `waited` after the one before it."""
        self.left[node] = max(0.0, self.left[node] - waited) + service
        return self.left[node]


def simulate(times, nodes, load, hedge_ms, searches):
    """Times of searches that ask all nodes, in order; and how many were asked twice.

    Searches come at random moments. A node answers one after the other."""
    chance = random.Random(nodes)
    between = sum(times) / len(times) / load if load else math.inf
    masters, replicas, asked = Copies(nodes), Copies(nodes), 0
    since = [0.0] * nodes  # since each replica was last asked
    taken = []
    for _ in range(searches):
        wait = chance.expovariate(1 / between) if load else math.inf
        services = chance.choices(times, k=nodes)
        slowest = 0.0
        for node, service in enumerate(services):
            answered = masters.answer(node, wait, service)
            since[node] += wait
            if hedge_ms is not None and answered > hedge_ms:
                asked += 1
                again = replicas.answer(node, since[node], chance.choice(times))
                since[node] = 0.0
                answered = min(answered, hedge_ms + again)
            if answered > slowest:
                slowest = answered
        taken.append(slowest)
    return sorted(taken), asked / (searches * nodes)


def p95_of(times, load):
    """Of one node at that load: after which a second request goes out."""
    return percentile(simulate(times, 1, load, None, 40000)[0], 0.95)


def print_hedges(found, options, searches):
    times = found["times_ms"]
    print("simulated: ms of a search of one code that asks all masters: p50, p99; with a second "
          "request to a replica after the p95 of one node: p50, p99, of all requests")  # fmt: skip
    for load in (0, 0.3, 0.6):
        hedge = p95_of(times, load)
        print(f"  load {load:g}, p95 of one node {hedge + options.network_ms:.2f} ms")
        for nodes in (1, 3, 15, 50, 150, 500):
            some = max(2000, min(searches, 2000000 // nodes))
            alone, _ = simulate(times, nodes, load, None, some)
            twice, share = simulate(times, nodes, load, hedge, some)
            row = [percentile(each, at) + options.network_ms
                   for each in (alone, twice) for at in (0.5, 0.99)]  # fmt: skip
            print("  {:5} nodes  {:7.2f} {:7.2f}   {:7.2f} {:7.2f}   {:.1%}".format(
                nodes, *row, share))  # fmt: skip


def read_options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("--codes", type=int, default=16 << 20)
    parser.add_argument("--searches", type=int, default=100000)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--use", type=pathlib.Path)
    for name, value in (("node-gb", 64), ("price", 294), ("fill", 0.5), ("busy", 0.5),
                        ("network-ms", 0.2), ("network-mb", 1000), ("client-us", 5)):  # fmt: skip
        parser.add_argument(f"--{name}", type=float, default=value)
    for name, value in (("cores", 8), ("copies", 2)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


def main():
    options = read_options()
    if options.use:
        found = json.loads(options.use.read_text())
    else:
        found = measure(options.build, options.codes, options.searches)
    if options.save:
        options.save.write_text(json.dumps(found))
    print_measured(found)
    print_plan(found, options)
    print_map()
    print_shards(found, options)
    print_hedges(found, options, 20000)


if __name__ == "__main__":
    main()
