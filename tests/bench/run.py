#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""CPU per HTTP probe of probity beside the floor of libcurl on libev, and how late probes are.

Both probe the same target in turns, so that what else the machine does meets both; figures of
different runs are not comparable, the ratio is.
"""
import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import Target, cpu_ns, lateness, memory_kib, percentile

WARM = 2.5  # s: past the spread of the first runs and the first allocations


def probity_command(build, folder, target, options):
    config = {
        "consul": "off",
        "defaults": {"interval": f"{options.interval:g}s", "timeout": "1s"},
        "checks": [{"name": f"c{n}", "http": f"{target.url}/{n}"}
                   for n in range(options.checks)],
    }
    path = Path(folder) / "bench.yaml"
    path.write_text(json.dumps(config))
    path.chmod(0o600)
    return [str(build / "probity"), "run", "-c", str(path), "--runtime-dir", folder,
            "--log-level", "warning"]


def floor_command(build, _folder, target, options):
    return [str(build / "tests" / "bench_floor"), str(options.checks), f"{options.interval:g}",
            target.url]


PEERS = {"probity": probity_command, "floor": floor_command}


def sample(peer, build, options, cores):
    """One run of one peer."""
    folder = tempfile.mkdtemp(prefix="probity-bench-")
    target = Target(build / "tests" / "bench_target", folder, cores[1])
    process = subprocess.Popen(PEERS[peer](build, folder, target, options),
                               stdout=subprocess.DEVNULL)
    try:
        if cores[0] is not None:
            os.sched_setaffinity(process.pid, {cores[0]})
        time.sleep(WARM)
        first, cpu = target.count(), cpu_ns(process.pid)
        time.sleep(options.seconds)
        spent, records = cpu_ns(process.pid) - cpu, target.records(first)
        late = lateness(records, options.interval)
        if len(records) < 0.9 * options.checks * options.seconds / options.interval:
            raise SystemExit(f"{peer}: only {len(records)} probes came")
        return {"peer": peer, "probes": len(records), "us": spent / len(records) / 1000,
                "late_p50_ms": percentile(late, 0.5) * 1000,
                "late_p99_ms": percentile(late, 0.99) * 1000,
                "late_max_ms": late[-1] * 1000, "anon_kib": memory_kib(process.pid)}
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        target.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/release"))
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--interval", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=8, help="of each measured window")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line for each sample")
    options = parser.parse_args()
    build = options.build.resolve()
    allowed = sorted(os.sched_getaffinity(0))
    cores = (allowed[0], allowed[1]) if len(allowed) > 1 else (None, None)

    samples = []
    for _ in range(options.rounds):
        for peer in PEERS:
            samples.append(sample(peer, build, options, cores))
            if options.json:
                print(json.dumps(samples[-1]), flush=True)
    if options.json:
        return 0
    print(f"{options.checks} HTTP checks at {options.interval:g} s, median of {options.rounds} "
          f"windows of {options.seconds:g} s")
    print(f"{'':10}{'us/probe':>10}{'late p50':>10}{'p99':>10}{'max ms':>10}{'anon KiB':>10}")
    middle = {}
    for peer in PEERS:
        rows = [each for each in samples if each["peer"] == peer]
        middle[peer] = {key: statistics.median(row[key] for row in rows) for key in rows[0]
                        if key != "peer"}
        row = middle[peer]
        print(f"{peer:10}{row['us']:10.1f}{row['late_p50_ms']:10.2f}{row['late_p99_ms']:10.2f}"
              f"{row['late_max_ms']:10.2f}{row['anon_kib']:10.0f}")
    print(f"ratio of CPU, probity to floor: {middle['probity']['us'] / middle['floor']['us']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
