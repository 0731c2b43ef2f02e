# SPDX-License-Identifier: MIT
"""The units as installed: they are well-formed, sandboxed, and the same but for where they look."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

BUILD = Path(os.environ["PROBITY_BUILD"])
UNITS = ["probity.service", "probity@web.service"]
# Of 100, less is better. A daemon that runs scripts as any user, with the network, on this host's
# files and processes, begins at 96; what the sandbox leaves (the list is in the unit's comments)
# comes to 52. One more line lost is over it.
THRESHOLD = 52
# What the two units may differ in.
OWN = {"Description", "PartOf", "Before", "RuntimeDirectory", "RuntimeDirectoryPreserve",
       "WantedBy"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """What `cmake --install` makes, with the targets and the shell that a unit builds on."""
    top = tmp_path_factory.mktemp("root")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": str(top)})
    system = top / "usr/lib/systemd/system"
    system.mkdir(parents=True, exist_ok=True)
    for target in Path("/lib/systemd/system").glob("*.target"):
        shutil.copy(target, system)
    (top / "usr/bin").mkdir(exist_ok=True)
    shutil.copy("/bin/sh", top / "usr/bin")
    for name in ("lib", "bin"):
        (top / name).symlink_to(f"usr/{name}")
    return top


def analyze(*arguments, **more):
    return subprocess.run(["systemd-analyze", *map(str, arguments)], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=30,
                          check=False, **more)


def installed(root):
    found = {path.name: path for path in root.rglob("*.service")}
    assert set(found) == {"probity.service", "probity@.service"}
    return found


def settings(path):
    """Every KEY=VALUE in its order."""
    return re.findall(r"^(\w+)=(.*)$", path.read_text(), re.M)


@pytest.mark.parametrize("unit", UNITS)
def test_units_are_well_formed(root, unit):
    result = analyze("verify", "--man=no", f"--root={root}", unit)
    # A line that it ignores is no failure to it, so silence is what counts.
    assert (result.returncode, result.stdout) == (0, "")


def test_a_slip_in_a_unit_is_seen(root, tmp_path):
    """The test above can fail."""
    copy = tmp_path / "root"
    shutil.copytree(root, copy, symlinks=True)
    path = installed(copy)["probity.service"]
    path.write_text(path.read_text().replace("OOMPolicy=continue", "OOMPolicy=cotinue"))
    assert "cotinue" in analyze("verify", "--man=no", f"--root={copy}", path.name).stdout


@pytest.mark.parametrize("unit", ["probity.service", "probity@.service"])
def test_units_are_sandboxed(root, unit):
    path = installed(root)[unit]
    result = analyze("security", "--offline=true", f"--threshold={THRESHOLD}", path)
    assert result.returncode == 0, result.stdout


def test_the_two_units_differ_only_in_where_they_look(root):
    units = installed(root)
    host, instance = (
        [(key, value.replace(config, "CONFIG"))
         for key, value in settings(units[unit]) if key not in OWN]
        for unit, config in (("probity.service", "/etc/probity/conf.d/"),
                             ("probity@.service", "/etc/probity/%i.yaml")))
    assert len(host) > 30
    assert host == instance


def test_every_line_that_an_instance_is_tied_by_is_there(root):
    lines = settings(installed(root)["probity@.service"])
    for line in (("PartOf", "%i.service"), ("Before", "%i.service"), ("WantedBy", "%i.service"),
                 ("Restart", "always"), ("StartLimitIntervalSec", "0"), ("Type", "notify"),
                 ("RuntimeDirectory", "probity/%i")):
        assert line in lines
