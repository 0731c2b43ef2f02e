# SPDX-License-Identifier: MIT
"""Scripts that write without end: they cost no memory and take no time from other checks."""
from lab import SANITIZED, TOLERANCE, memory_kib
from script_bench import configuration


def test_floods_block_nobody_and_stay_small(lab, agent):
    steady = lab.recorder("steady", "exit 0")
    endless = lab.recorder("endless", "exec cat /dev/zero")
    daemon = lab.probity(configuration(agent, {
        "steady": (steady.command, {"interval": "500ms"}),
        "stderr": ({"shell": "head -c 1048576 /dev/zero | tr '\\0' e >&2; echo ready"},
                   {"interval": "30s", "timeout": "10s"}),
        "endless": (endless.command, {"interval": "30s", "timeout": "1s"})}))
    first = agent.wait_update("web-1:stderr", timeout=10)
    assert first.status == "passing" and first.output.endswith("eeeready")
    first = agent.wait_update("web-1:endless", timeout=10)
    assert first.status == "critical" and first.output.startswith("timed out after 1s\n")
    delay = first.at - endless.starts()[0]
    assert 0.7 <= delay <= 1.6, delay
    # While it flooded, the other check kept its time.
    starts = steady.starts()
    assert max(b - a for a, b in zip(starts, starts[1:])) < 0.5 + TOLERANCE, starts
    before = memory_kib(daemon.pid)
    daemon.reload(configuration(agent, {
        "steady": (steady.command, {"interval": "500ms"}),
        "stdout": ({"shell": "head -c 300000000 /dev/zero; echo end; exit 1"},
                   {"interval": "30s", "timeout": "20s"})}))
    first = agent.wait_update("web-1:stdout", timeout=20)
    assert first.status == "warning"
    assert first.output == "… [299991812 bytes left out] …end", first.output
    if not SANITIZED:
        assert memory_kib(daemon.pid) - before < 8 * 1024
