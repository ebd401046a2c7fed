"""A client of a cluster, as one has to be: it follows MOVED and ASK, goes on when nodes do not
answer, and asks until what it wants is done, or its limit is over."""

import random
import struct
import time

from redis import SLOTS, Client, RedisError, slot_of

NODE_HIT = 4  # numbers of a hit of DOPPEL.SEARCH with NODE: query, payload, distance, shard
LATER = ("TRYAGAIN", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "UNBLOCKED", "READONLY", "NOREPLICAS")


class Uncovered(Exception):
    """Shards that no node answered for within the limit."""


class ClusterClient:
    """`ports`: of nodes of this machine; `limit` seconds for each call. `replicas`: searches ask
    the first replica of a master, where it has one."""

    def __init__(self, ports, limit=30, timeout=2, replicas=False):
        self.ports, self.limit, self.timeout = list(ports), limit, timeout
        self.replicas = replicas
        self.clients, self.places, self.masters, self.slots = {}, {}, {}, {}
        self.silent = set()  # ports that did not answer
        self.refresh()

    def close(self):
        for port in list(self.clients):
            self.drop(port)

    def connection(self, port):
        if port not in self.clients:
            self.clients[port] = Client(port, self.timeout)
            if self.replicas:
                self.clients[port].run("READONLY")
        return self.clients[port]

    def drop(self, port):
        self.silent.add(port)
        client = self.clients.pop(port, None)
        if client:
            client.close()

    # ---- where shards are ----

    def refresh(self):
        for port in sorted(self.ports, key=lambda port: (port in self.silent, random.random())):
            try:
                ranges = self.connection(port).run("CLUSTER", "SLOTS")
            except (OSError, RedisError):
                self.drop(port)
                continue
            if sum(last - first + 1 for first, last, *_ in ranges) == SLOTS:
                for first, last, *nodes in ranges:
                    for slot in range(first, last + 1):
                        self.masters[slot] = nodes[0][1]
                        self.places[slot] = nodes[1 if self.replicas and nodes[1:] else 0][1]
                return

    def slot(self, shard):
        if shard not in self.slots:
            self.slots[shard] = slot_of(str(shard))
        return self.slots[shard]

    def place(self, shard):
        return self.places.get(self.slot(shard)) or random.choice(self.ports), False

    def next_place(self, failure, shard):
        """Where to ask after a failure: (port, whether by ASKING)."""
        kind, _, where = (str(failure).split() + ["", "", ""])[:3]
        if kind == "ASK":
            return int(where.rsplit(":", 1)[1]), True
        if kind == "MOVED":
            self.places[self.slot(shard)] = int(where.rsplit(":", 1)[1])
        elif self.replicas and "no such shard" in str(failure):
            return self.masters[self.slot(shard)], False  # on its way: replicas do not say ASK
        elif isinstance(failure, RedisError) and not is_passing(failure):
            raise failure
        else:
            time.sleep(random.uniform(0.005, 0.05))
            self.refresh()
        return self.place(shard)

    # ---- one command of one shard ----

    def run(self, shard, *command, durable=False):
        """The answer. `durable`: once a replica has it as well."""
        end = time.monotonic() + self.limit
        place = self.place(shard)
        while True:
            answer = self.attempt(place, command, durable, end)
            if not isinstance(answer, Exception):
                return answer
            if time.monotonic() > end:
                raise answer
            place = self.next_place(answer, shard)

    def attempt(self, place, command, durable, end):
        """One try: its answer, or what went wrong."""
        port, asking = place
        try:
            client = self.connection(port)
            before = [("ASKING",)] if asking else []
            client.send(*before, command)
            answer = [client.read() for _ in range(1 + asking)][-1]
            self.silent.discard(port)
            while durable and not isinstance(answer, Exception):
                copies = client.run("WAIT", 1, 500)
                if copies:
                    return answer
                if time.monotonic() > end:
                    return TimeoutError("no replica has it")
            return answer
        except (OSError, RedisError) as failure:
            self.drop(port)
            return failure

    # ---- searches of all shards ----

    def search(self, keys, codes, radius, extra=()):
        """{(query, payload, distance)} of `keys`, {shard: key}, of all of them: each node is asked
        for all that it has, until none is missing."""
        packed = struct.pack(f"<{len(codes)}Q", *codes)
        end = time.monotonic() + self.limit
        missing, hits = set(keys), set()
        while missing:
            for shards in self.by_port(missing):
                shard = random.choice(shards)
                covered, found = self.search_node(shard, keys[shard], packed, radius)
                missing -= covered
                hits |= found
            if missing and time.monotonic() > end:
                raise Uncovered(sorted(missing))
        return hits

    def by_port(self, shards):
        groups = {}
        for shard in shards:
            groups.setdefault(self.place(shard)[0], []).append(shard)
        return list(groups.values())

    def search_node(self, shard, key, packed, radius):
        """Of the node that has the shard: which shards it has searched, and hits."""
        command = ("DOPPEL.SEARCH", key, "RADIUS", radius, "NODE", "PACKED", packed)
        place = self.place(shard)
        for _ in range(3):
            answer = self.attempt(place, command, False, 0)
            if not isinstance(answer, Exception):
                return shards_of(answer[0]), hits_of(answer[1])
            place = self.next_place(answer, shard)
        return set(), set()


def is_passing(failure):
    text = str(failure)
    return text.startswith(LATER) or "ask again" in text or "WAIT cannot be used" in text


def shards_of(bits):
    return {i for i in range(8 * len(bits)) if bits[i // 8] >> i % 8 & 1}


def hits_of(numbers, each=NODE_HIT):
    return set(zip(numbers[::each], numbers[1::each], numbers[2::each]))
