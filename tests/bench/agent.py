#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""CPU of a real Consul agent: idle, fed by probity, and with as many HTTP checks of its own.

One agent after another, since each starts afresh; what an idle one needs is taken off both.
"""
import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "integration"))
os.environ.setdefault("PROBITY", os.path.abspath("build/release/probity"))
os.environ.setdefault("PROBITY_BUILD", os.path.abspath("build/release"))

from measure import Target, cpu_ns  # noqa: E402
from real_consul import RealConsul  # noqa: E402
from lab import Probity  # noqa: E402

WARM = 5.0  # s: an agent's first seconds are not its usual ones


def per_second(pid, seconds):
    """ms of CPU per second."""
    time.sleep(WARM)
    before, began = cpu_ns(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_ns(pid) - before) / 1e6 / (time.monotonic() - began)


def idle(_consul, _target, _options, _folder):
    return None


def own(consul, target, options, _folder):
    for number in range(options.checks):
        consul.put("/v1/agent/check/register", {
            "ID": f"c{number}", "Name": "c", "HTTP": f"{target.url}/{number}", "Interval": "1s",
            "Timeout": "1s", "Status": "passing"})


def fed(consul, target, options, folder):
    daemon = Probity(folder, {"consul": {"address": consul.url}, "checks": [
        {"name": f"c{number}", "node": True, "http": f"{target.url}/{number}", "interval": "1s",
         "timeout": "1s"} for number in range(options.checks)]})
    return daemon.start()


def measure(load, options):
    with tempfile.TemporaryDirectory(prefix="probity-bench-") as folder:
        target = Target(Path(options.build) / "tests" / "bench_target", folder)
        consul = RealConsul(Path(folder))
        daemon = load(consul, target, options, Path(folder))
        try:
            return per_second(consul.process.pid, options.seconds)
        finally:
            if daemon is not None:
                daemon.stop()
            consul.stop()
            target.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    spent = {load.__name__: measure(load, options) for load in (idle, own, fed)}
    ratio = (spent["fed"] - spent["idle"]) / (spent["own"] - spent["idle"])
    print(f"{options.checks} checks at 1 s, ms of the agent's CPU per second: "
          + json.dumps({name: round(value, 2) for name, value in spent.items()}))
    print(f"fed by probity to its own checks: {ratio:.3f}")
    return 0 if ratio <= 0.1 else 1


if __name__ == "__main__":
    sys.exit(main())
