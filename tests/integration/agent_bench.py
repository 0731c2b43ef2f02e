# SPDX-License-Identifier: MIT
"""What the tests of the agent side share: a target that can be switched, and configurations."""
import inspect
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from lab import TOLERANCE, Lab, Reply

# A sanitized binary on a busy machine is late by itself; bounds that are about pace get this much.
SLACK = TOLERANCE
FULL = os.environ.get("PROBITY_FULL") == "1"


def _lab_agent(lab):
    agent = lab.fake_agent()
    agent.add_service("web-1", "web", 8080)
    return agent


def _lab_consul(lab):
    consul = lab.consul()
    consul.register_service("web-1", "web", 8080)
    return consul


class SideBySide:
    """Runs functions at the same time, as tests that mostly wait should: each in a lab of its own.

    A decorator. What a function asks for by name is what the fixtures of that name give.
    """

    def __init__(self, workers):
        self.workers = workers
        self.functions = {}
        self.results = None

    def __call__(self, function):
        self.functions[function.__name__] = function
        return function

    def full(self, function):
        """The same for one that takes long: only `tests/run.sh full` runs it."""
        return self(function) if FULL else function

    @staticmethod
    def _run(function):
        lab = Lab(strays=False)
        try:
            makers = {"lab": lambda lab: lab, "agent": _lab_agent, "consul": _lab_consul}
            function(*[makers[name](lab) for name in inspect.signature(function).parameters])
        finally:
            lab.end()

    def test(self):
        """The one test function, with the name of each function as its parameter."""
        @pytest.mark.parametrize("name", list(self.functions))
        def test(name):
            if self.results is None:
                pool = ThreadPoolExecutor(self.workers)
                self.results = {each: pool.submit(self._run, function)
                                for each, function in self.functions.items()}
            self.results[name].result()
        return test


class Switch:
    """An HTTP target whose answer can be changed at any time."""

    def __init__(self, lab, status=200, body="fine"):
        self.status, self.body = status, body
        self.server = lab.server(lambda request: Reply(self.status, self.body))

    def check(self, name="ready", **more):
        return {"name": name, "http": f"{self.server.url}/{name}", "interval": "1s", "ttl": "3s",
                "timeout": "900ms", **more}


def says(status, text, name="ready", **more):
    """A check by a script that says text and ends with the exit code of status."""
    code = ("passing", "warning", "critical").index(status)
    return {"name": name, "script": ["/bin/sh", "-c", f"printf %s '{text}'; exit {code}"],
            "interval": "1s", "ttl": "3s", **more}


def config(agent, *checks, service=None, **consul):
    return {"consul": {"address": agent.url, **consul},
            "service": {"id": "web-1"} if service is None else service, "checks": list(checks)}


def gaps(updates):
    times = [update.at for update in updates]
    return [later - earlier for earlier, later in zip(times, times[1:])]


def most_within(times, seconds):
    """The largest number of the times that fall into one span of that length."""
    times = sorted(times)
    return max((sum(1 for t in times if first <= t < first + seconds) for first in times),
               default=0)
