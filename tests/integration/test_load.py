# SPDX-License-Identifier: MIT
"""Many checks at once are on time."""
import sys
import time
from pathlib import Path

import pytest

from lab import PROBITY, SANITIZED

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bench"))

from measure import Target, by_check, cpu_ns, lateness, percentile  # noqa: E402

CHECKS, SECONDS = 200, 30
LATE = 0.3  # s


@pytest.mark.skipif(SANITIZED, reason="the sanitizers take half of the time themselves")
def test_200_checks_each_second_are_never_late(lab):
    target = Target(Path(PROBITY).parent / "tests" / "bench_target", lab.subfolder("target"))
    lab.defer(target.stop)
    daemon = lab.probity({
        "consul": "off", "defaults": {"interval": "1s", "timeout": "1s"},
        "checks": [{"name": f"c{n}", "http": f"{target.url}/{n}"} for n in range(CHECKS)]})
    time.sleep(2.5)  # the first runs are off the ticks
    first, cpu = target.count(), cpu_ns(daemon.pid)
    time.sleep(SECONDS)
    spent, records = cpu_ns(daemon.pid) - cpu, target.records(first)
    late = lateness(records, 1)
    print(f"{len(records)} probes, {spent / len(records) / 1000:.1f} us each, late "
          f"p99 {percentile(late, 0.99) * 1000:.1f} ms, max {late[-1] * 1000:.1f} ms")
    assert late[-1] <= LATE
    assert {len(times) for times in by_check(records).values()} <= {SECONDS - 1, SECONDS,
                                                                    SECONDS + 1}
    assert len(by_check(records)) == CHECKS
    for check in daemon.status()["checks"]:
        assert check["max_lateness"] <= LATE
        assert check["status"] == "passing"
        assert check["skipped_ticks"] == 0 and check["timeouts"] == 0
    assert daemon.status()["stalls"] == 0
