# SPDX-License-Identifier: MIT
"""The ways to reach an agent and to tell it things, against a real one."""
from agent_bench import SideBySide, config
from lab import wait_for

together = SideBySide(6)


@together
def both_families_of_updates_carry_the_same_bytes(lab, consul):
    raw = lab.folder / "raw"
    raw.write_bytes("a+b %2F & c=d; #?\n\t\"q\" \\ é✓".encode() + b"\xff" + b"x" * 5000 + b"end")

    def check(name, **more):
        return {"name": name, "script": ["/bin/sh", "-c", f"cat {raw}; exit 1"], "interval": "1s",
                "ttl": "3s", **more}
    lab.probity(config(consul, check("body"), check("note", update="ttl")))
    for name in ("body", "note"):
        consul.wait_status(f"web-1:{name}", "warning")
        wait_for(lambda: consul.check(f"web-1:{name}")["Output"], 3, what="the output")
    body, note = (consul.check(f"web-1:{name}")["Output"] for name in ("body", "note"))
    assert body == note and body.startswith('a+b %2F & c=d; #?\n\t"q" \\ é✓\ufffdxxx')
    assert body.endswith("xxxend")
    # It is kept alive by them, too.
    assert consul.status("web-1:note") == "warning"


test_together = together.test()
