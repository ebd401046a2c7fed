"""A cluster with a replica of each master, and what can happen to its nodes."""

import time

from redis import Client, RedisError, Server, start_cluster

NODE_TIMEOUT_MS = 1000
OPTIONS = (
    "--cluster-node-timeout", str(NODE_TIMEOUT_MS),
    "--cluster-require-full-coverage", "no",  # the shards of other nodes are answered for
    "--repl-diskless-sync-delay", "0",
    "--repl-ping-replica-period", "1",
    "--replica-serve-stale-data", "no",  # nor what it had before it has all of its master
)  # fmt: skip


class ReplicatedCluster:
    """Masters that share the slots in order, and as many replicas."""

    def __init__(self, build, folder, *options, masters=3):
        options = OPTIONS + options
        self.count = masters
        self.nodes = start_cluster(build, folder, masters, *options)
        for number, master in enumerate(list(self.nodes)):
            replica = Server(build, folder / f"replica{number}", *options, cluster=True)
            replica.client().run("CLUSTER", "MEET", "127.0.0.1", master.port)
            self.nodes.append(replica)
            replicate(replica, master)
        self.wait_whole()

    def ports(self):
        return [node.port for node in self.nodes]

    def role(self, node):
        """("master", ports of its replicas) or ("slave", port of its master, state of the link);
        None where it does not answer."""
        if not node.runs():
            return None
        try:
            client = Client(node.port, timeout=1)
            role = client.run("ROLE")
            client.close()
        except (OSError, RedisError):
            return None
        kind = role[0].decode()
        if kind == "master":
            return kind, [int(replica[1]) for replica in role[2]]
        return kind, role[2], role[3].decode()

    def masters(self):
        """Of the nodes that answer. One that was resumed may not know yet that it is none."""
        return [node for node in self.nodes if (self.role(node) or [""])[0] == "master"]

    def master_of(self, shard_slot):
        for node in self.masters():
            slots = node.client().run("CLUSTER", "SLOTS")
            for first, last, (_, port, *_), *_ in slots:
                if first <= shard_slot <= last and port == node.port:
                    return node
        return None

    def replica_of(self, master):
        for node in self.nodes:
            role = self.role(node)
            if role and role[0] == "slave" and role[1] == master.port:
                return node
        return None

    def wait(self, condition, what, limit=60):
        """@return how long it took, in seconds."""
        began = time.monotonic()
        while not condition():
            assert time.monotonic() < began + limit, what
            time.sleep(0.02)
        return time.monotonic() - began

    def is_whole(self):
        roles = {node.port: self.role(node) for node in self.nodes}
        masters = {port for port, role in roles.items() if role and role[0] == "master"}
        linked = [role for role in roles.values() if role and role[-1] == "connected"]
        followed = {role[1] for role in linked if role[0] == "slave"}
        return (
            None not in roles.values()
            and len(masters) == self.count
            and masters == followed
            and all(is_ready(node, self.count) for node in self.nodes)
        )

    def wait_whole(self):
        return self.wait(self.is_whole, "the cluster is not whole", 90)

    def wait_promoted(self, replica):
        return self.wait(
            lambda: (self.role(replica) or [""])[0] == "master", "the replica was not promoted"
        )

    def fail_over(self, master, cut_off=False):
        """kill -9 of a master, which is started when its replica has its slots, as a replica of it.
        `cut_off`: what it takes before has not reached its replica.
        @return the new master, seconds until it was one."""
        replica = self.replica_of(master)
        if cut_off:
            replica.pause()
            master.client().run("CLIENT", "KILL", "TYPE", "replica")
            time.sleep(0.2)
        master.kill()
        replica.resume()
        taken = self.wait_promoted(replica)
        master.start()
        return replica, taken

    def stop(self):
        for node in self.nodes:
            if node.runs():
                node.resume()
                node.kill()


def is_ready(node, masters):
    """It knows what the others are: before, masters give no votes, and replicas ask for none."""
    client = node.client(timeout=2)
    info, lines = client.run("CLUSTER", "INFO"), client.run("CLUSTER", "NODES").decode().split("\n")
    flags = [line.split()[2].replace("myself,", "") for line in lines if line]
    return (
        b"cluster_state:ok" in info
        and b"cluster_slots_ok:16384" in info
        and sorted(flags) == ["master"] * masters + ["slave"] * masters
    )


def replicate(replica, master):
    """When the nodes have heard of each other."""
    name = master.client().run("CLUSTER", "MYID").decode()
    client = replica.client()
    end = time.monotonic() + 30
    while True:
        try:
            return client.run("CLUSTER", "REPLICATE", name)
        except RedisError:
            assert time.monotonic() < end, "a replica does not hear of its master"
            time.sleep(0.02)
