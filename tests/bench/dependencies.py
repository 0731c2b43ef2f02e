#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""CPU per run of a probe of a dependency beside what a user would run instead in a script check.

Both are checks of probity against the same real server, in turns, so that what else the machine
does meets both; figures of different runs are not comparable, the ratio is. What the server
itself spends is not counted.
"""
import argparse
import os
import statistics
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "integration"))


def dns(lab):
    """BIND: two SRV records over UDP."""
    from bind import Bind
    from mail_servers import find
    server = Bind(lab.subfolder("b"))
    lab.defer(server.stop)
    name = "_http._tcp.web.test"
    return ({"dns": {"name": name, "type": "SRV", "server": server.address, "expect": "8080"}},
            {"script": {"command": [find("dig"), "+short", "@127.0.0.1", "-p", str(server.port),
                                    name, "SRV"]}})


GRPC_CLIENT = """#!/usr/bin/python3
import sys
import grpc
with grpc.insecure_channel(sys.argv[1]) as channel:
    ask = channel.unary_unary("/grpc.health.v1.Health/Check")
    sys.exit(0 if ask(b"", timeout=5) == b"\\x08\\x01" else 2)
"""


def grpc(lab):
    """grpcio's own server, and a client of the same in Python, in clear."""
    from grpc_server import GrpcServer
    server = GrpcServer()
    lab.defer(server.stop)
    return ({"grpc": server.address},
            {"script": {"command": [lab.script(GRPC_CLIENT, "client.py"), server.address]}})


def redis(lab):
    """A PING in clear."""
    from mail_servers import find
    from redis_server import Redis
    server = Redis(lab.subfolder("r"))
    lab.defer(server.stop)
    return ({"redis": server.address},
            {"script": {"command": [find("redis-cli"), "-p", str(server.port), "PING"]}})


# type -> function that starts its server and gives the probe and the script, keys of a check each.
TYPES = {"dns": dns, "grpc": grpc, "redis": redis}


def spent(pid):
    """CPU seconds of the daemon, and of the children that it has reaped."""
    from measure import cpu_ns
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rpartition(")")[2].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return cpu_ns(pid) / 1e9, (int(fields[13]) + int(fields[14])) / ticks


def sample(lab, keys, options):
    """us of CPU per run, without what an idle second costs: that is shared by all checks."""
    daemon = lab.probity({
        "consul": "off", "defaults": {"interval": f"{options.interval:g}s", "timeout": "5s"},
        "checks": [{"name": f"c{i}", "node": True, **keys} for i in range(options.checks)]},
        ["--log-level", "error"])
    try:
        time.sleep(options.interval + 2)

        def runs():
            checks = daemon.status()["checks"]
            wrong = [check for check in checks if check["status"] != "passing"]
            if wrong:
                raise SystemExit(f"not passing: {wrong[0]['output']}")
            return sum(check["runs"] for check in checks)

        first, before = runs(), spent(daemon.pid)
        time.sleep(options.seconds)
        after, last = spent(daemon.pid), runs()
        return [(b - a) / (last - first) * 1e6 for a, b in zip(before, after)]
    finally:
        daemon.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("types", nargs="*", default=[], choices=[*sorted(TYPES), []],
                        help="all where none is named")
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--checks", type=int, default=20)
    parser.add_argument("--interval", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=8, help="of each measured window")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    os.environ["PROBITY"] = str(options.build.resolve() / "probity")
    from lab import Lab

    print(f"{options.checks} checks at {options.interval:g} s, us of CPU per run, median of "
          f"{options.rounds} windows of {options.seconds:g} s")
    print(f"{'':10}{'probe':>10}{'script':>10}{'of it ours':>12}{'ratio':>8}")
    for name in options.types or sorted(TYPES):
        lab = Lab()
        try:
            probe, script = TYPES[name](lab)
            rows = [(sum(sample(lab, probe, options)), sample(lab, script, options))
                    for _ in range(options.rounds)]
        finally:
            lab.end()
        ours = statistics.median(row[0] for row in rows)
        theirs = statistics.median(sum(row[1]) for row in rows)
        share = statistics.median(row[1][0] for row in rows)
        print(f"{name:10}{ours:10.0f}{theirs:10.0f}{share:12.0f}{theirs / ours:8.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
