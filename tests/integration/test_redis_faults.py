# SPDX-License-Identifier: MIT
"""Redis servers that fall ill and recover under a running daemon: what is said, and how soon."""
import re
import signal
import time

from agent_bench import SideBySide
from lab import TOLERANCE, wait_for
from redis_server import Cluster, Redis, sentinel_config

MASTER = "main"

together = SideBySide(4)


def redis(lab, *options, **more):
    server = Redis(lab.subfolder("r"), *options, **more)
    lab.defer(server.stop)
    return server


def pair_of(lab, *options):
    """A master and its replica, whose link stands."""
    master = redis(lab, "--repl-ping-replica-period", "1", "--repl-diskless-sync-delay", "0")
    replica = redis(lab, "--replicaof", f"127.0.0.1 {master.port}", *options)
    wait_for(lambda: replica.info("replication")["master_link_status"] == "up", 20)
    return master, replica


def watch(lab, **checks):
    """A daemon; checks: name -> keys of redis."""
    return lab.probity({"consul": "off", "service": {"id": "web-1"}, "checks": [
        {"name": name, "redis": keys, "interval": "200ms", "timeout": "200ms"}
        for name, keys in checks.items()]})


def says(daemon, name, status, pattern, timeout=10):
    """Waits for the status with that text; its row."""
    def found():
        row = daemon.check(name)
        return row if row["status"] == status and re.fullmatch(pattern, row["output"]) else None
    return wait_for(found, timeout, what=lambda: f"{name} {status} {pattern}; {daemon.check(name)}")


def no_client_is_left(daemon, *servers):
    daemon.stop()
    for server in servers:
        wait_for(lambda server=server: not server.clients(), 5, what=lambda: server.clients())
        assert server.info("stats")["rejected_connections"] == "0"


@together
def loading(lab):
    server = redis(lab, "--enable-debug-command", "local")
    server.ask("DEBUG", "POPULATE", "3000")
    server.ask("SAVE")
    daemon = watch(lab, cache=server.address,
                   role={"address": server.address, "role": "master"})
    for name in ("cache", "role"):
        daemon.wait_check(name, status="passing")
    server.stop()
    refused = f"cannot connect: {server.address} Connection refused"
    says(daemon, "cache", "critical", re.escape(refused))
    # 1 ms for each key.
    server.start("--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024",
                 ready=False)
    for name in ("cache", "role"):
        says(daemon, name, "critical",
             "refused by the server: PING: LOADING Redis is loading the dataset in memory")
    daemon.wait_check("cache", 15, status="passing")
    assert int(server.ask("DBSIZE")) == 3000
    no_client_is_left(daemon, server)


@together
def unable_to_save(lab):
    server = redis(lab)
    daemon = watch(lab, cache=server.address)
    daemon.wait_check("cache", status="passing")
    # A folder is in the place of the file.
    (server.folder / "dump.rdb").mkdir()
    server.ask("CONFIG", "SET", "save", "3600 1")
    server.ask("BGSAVE")
    says(daemon, "cache", "critical", "refused by the server: PING: MISCONF Redis is configured "
         "to save RDB snapshots, but it's currently unable to persist to disk.*")
    (server.folder / "dump.rdb").rmdir()
    wait_for(lambda: server.info("persistence")["rdb_bgsave_in_progress"] == "0", 5)
    server.ask("BGSAVE")
    daemon.wait_check("cache", status="passing")
    no_client_is_left(daemon, server)


@together
def stopped_and_restarted(lab):
    server = redis(lab)
    daemon = watch(lab, cache=server.address)
    daemon.wait_check("cache", status="passing")
    stopped = time.monotonic()
    server.signal(signal.SIGSTOP)
    says(daemon, "cache", "critical", f"timed out after 200ms; connected to {server.address}, no "
         "reply to PING")
    assert time.monotonic() - stopped <= 0.4 + 2 * TOLERANCE
    server.signal(signal.SIGCONT)
    says(daemon, "cache", "passing", f"{server.address}: PONG")
    server.stop()
    says(daemon, "cache", "critical", f"cannot connect: {server.address} Connection refused")
    server.start()
    says(daemon, "cache", "passing", f"{server.address}: PONG")
    no_client_is_left(daemon, server)


@together
def replica_without_its_master(lab):
    master, replica = pair_of(lab)
    address = {"address": replica.address}
    daemon = watch(lab, lag={**address, "max_lag": "3s"}, role={**address, "role": "replica"},
                   warned={**address, "max_lag": {"note": "2s", "warning": "3s"}})
    fine = f"{replica.address}: replica of {master.address}"
    says(daemon, "lag", "passing", f"{fine}; PONG")
    # The link stands, and nothing comes over it.
    master.signal(signal.SIGSTOP)
    old = f"replica of {master.address}, last exchange with it more than"
    says(daemon, "warned", "passing", f"{replica.address}: {old} 2s ago; PONG")
    says(daemon, "lag", "critical", f"assertion failed: {old} 3s ago")
    says(daemon, "warned", "warning", f"assertion failed: {old} 3s ago")
    master.signal(signal.SIGCONT)
    says(daemon, "lag", "passing", f"{fine}; PONG")
    master.stop()
    lost = f"assertion failed: replica without a link to its master {master.address}"
    for name in ("lag", "warned"):
        says(daemon, name, "critical", f"{lost}(, synchronising)?")
    says(daemon, "role", "passing", f"{fine}; PONG")
    master.start()
    says(daemon, "lag", "passing", f"{fine}; PONG", 20)
    no_client_is_left(daemon, master, replica)


@together
def stale_replica(lab):
    master, replica = pair_of(lab, "--replica-serve-stale-data", "no")
    daemon = watch(lab, cache=replica.address)
    daemon.wait_check("cache", status="passing")
    master.stop()
    says(daemon, "cache", "critical", "refused by the server: PING: MASTERDOWN Link with MASTER is "
         "down and replica-serve-stale-data is set to 'no'.*")
    # It becomes a master of its own.
    replica.ask("REPLICAOF", "NO", "ONE")
    daemon.wait_check("cache", status="passing")
    no_client_is_left(daemon, replica)


@together
def watched_master(lab):
    master = redis(lab)
    sentinel = redis(lab, sentinel=sentinel_config(MASTER, master, 1))
    daemon = watch(lab, main={"address": sentinel.address, "sentinel": MASTER})
    fine = f"{sentinel.address}: master {MASTER} is {master.address}; quorum reachable; PONG"
    says(daemon, "main", "passing", fine)
    master.signal(signal.SIGSTOP)
    says(daemon, "main", "critical", f"assertion failed: master {MASTER} at {master.address} is "
         "not reachable: .*s_down.*")
    master.signal(signal.SIGCONT)
    says(daemon, "main", "passing", fine)
    no_client_is_left(daemon, sentinel, master)


@together
def cluster_with_a_hole(lab):
    cluster = Cluster(lab)
    asked, lost = cluster.nodes[0], cluster.nodes[2]
    daemon = watch(lab, state={"address": asked.address, "cluster": "ok"},
                   key={"address": asked.address, "command": ["EXISTS", "b"], "expect": "^[01]$"})
    says(daemon, "state", "passing", f"{asked.address}: cluster ok; PONG")
    says(daemon, "key", "passing", f"{asked.address}: EXISTS as expected")
    lost.stop()
    says(daemon, "state", "critical", "assertion failed: cluster_state is fail, not ok", 20)
    says(daemon, "key", "critical", "refused by the server: EXISTS: CLUSTERDOWN .*")
    lost.start()
    says(daemon, "state", "passing", f"{asked.address}: cluster ok; PONG", 20)
    no_client_is_left(daemon, asked)


@together
def full_house(lab):
    """The server turns us away, and says so before we have asked."""
    server = redis(lab, "--maxclients", "1")
    with server.hold():
        daemon = watch(lab, cache=server.address)
        says(daemon, "cache", "critical",
             "refused by the server: PING: ERR max number of clients reached")
    daemon.wait_check("cache", status="passing")
    daemon.stop()


@together
def password_that_changes(lab):
    """The file is read again before each run; the server knows the new one first."""
    server = redis(lab, "--requirepass", "first-word", login=("first-word",))
    password = lab.subfolder("s") / "redis"
    password.write_text("first-word\n")
    password.chmod(0o600)
    daemon = watch(lab, cache={"address": server.address, "password": {"file": str(password)}})
    daemon.wait_check("cache", status="passing")
    server.ask("CONFIG", "SET", "requirepass", "second-word")
    server.login = ("second-word",)
    says(daemon, "cache", "critical", "cannot log in: AUTH: WRONGPASS .*")
    password.write_text("second-word\n")
    daemon.wait_check("cache", status="passing")
    no_client_is_left(daemon, server)


test = together.test()
