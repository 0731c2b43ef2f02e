# SPDX-License-Identifier: MIT
"""Fixtures. `lab` lives for a test, `module_lab` for all tests of a file."""
import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(__file__))

import lab as lab_module  # noqa: E402  the path comes first
from processes import adopt_orphans  # noqa: E402

adopt_orphans()


@pytest.fixture
def lab():
    bench = lab_module.Lab()
    yield bench
    bench.end()


@pytest.fixture(scope="module")
def module_lab():
    bench = lab_module.Lab()
    yield bench
    bench.end()


@pytest.fixture
def agent(lab):  # pylint: disable=redefined-outer-name
    """A fake agent that knows the service web-1 (name web)."""
    fake = lab.fake_agent()
    fake.add_service("web-1", "web", 8080)
    return fake


@pytest.fixture
def consul(lab):  # pylint: disable=redefined-outer-name
    """A real agent, its memory lost with each kill, that knows the service web-1 (name web)."""
    real = lab.consul()
    real.register_service("web-1", "web", 8080)
    return real
