# SPDX-License-Identifier: MIT
"""The README shows what the program says, and its configurations load."""
import re
from pathlib import Path

import pytest

from lab import run_probity

README = (Path(__file__).resolve().parents[2] / "README.md").read_text()
SHOWN = re.findall(r"^```text\n\$ probity (.*?)\n(.*?)^```$", README, re.M | re.S)
YAML = re.findall(r"^```yaml\n(.*?)^```$", README, re.M | re.S)


def test_readme_shows_commands_and_configurations():
    assert {command for command, _ in SHOWN} >= {
        "--help", "run --help", "validate --help", "probe --help", "status --help",
        "schema --help", "reference --help"}
    assert len(YAML) >= 2


@pytest.mark.parametrize("command, text", SHOWN, ids=[command for command, _ in SHOWN])
def test_help_is_what_the_readme_shows(command, text):
    done = run_probity(*command.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == text


@pytest.mark.parametrize("text", YAML, ids=range(len(YAML)))
def test_configurations_of_the_readme_load(lab, text):
    path = lab.folder / "readme.yaml"
    path.write_text(text)
    path.chmod(0o600)
    done = run_probity("validate", "--strict", "-c", path)
    assert done.returncode == 0, done.stderr
