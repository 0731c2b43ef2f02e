# SPDX-License-Identifier: MIT
"""What tests of script probes share."""


def configuration(agent, checks):
    """checks: name -> (script, more keys)."""
    return {"consul": {"address": f"http://127.0.0.1:{agent.port}"}, "service": {"id": "web-1"},
            "checks": [{"name": name, "script": script, "ttl": "3s", **more}
                       for name, (script, more) in checks.items()]}
