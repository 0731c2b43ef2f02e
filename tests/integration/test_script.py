# SPDX-License-Identifier: MIT
"""Script probes through the daemon: what scripts get, how they end, what is left of them."""
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from lab import Reply, alive, descendants, descriptors, run_probity, wait_for, zombies
from script_bench import configuration

PLUGINS = Path("/usr/lib/nagios/plugins")
NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Prints how much stdin holds and which descriptors but 0 to 2 are open; anything is a warning.
LOOK = ("i=3; x=; while [ $i -le 1023 ]; do [ -e /proc/$$/fd/$i ] && x=\"$x $i\"; i=$((i + 1)); "
        "done; n=$(wc -c); echo \"stdin=$n extra=[$x]\"; [ \"$n$x\" = 0 ]")


def groups_alive(leaders):
    """Processes that live in one of these process groups."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text(errors="replace")
            except OSError:
                continue
            fields = stat.rpartition(")")[2].split()
            if int(fields[2]) in leaders and fields[0] not in "ZX":
                found.append(int(entry))
    return found


class Deaths(threading.Thread):
    """Notes when each process that a recorder has logged is first seen to be gone."""

    def __init__(self, recorders):
        super().__init__(daemon=True)
        self.recorders, self.at, self.over = recorders, {}, False

    def run(self):
        while not self.over:
            for recorder in self.recorders:
                for pid in recorder.pids():
                    if pid not in self.at and not alive(pid):
                        self.at[pid] = time.monotonic()
            time.sleep(0.02)

    def after(self, recorder):
        """Seconds from the start of its first run to its death."""
        pid = wait_for(recorder.pids, what="a start")[0]
        wait_for(lambda: pid in self.at, 10, what="its death")
        return self.at[pid] - recorder.starts()[0]


class Variants:
    """Many checks in one daemon, all under way before the first test looks."""

    def __init__(self, lab):
        self.agent = lab.fake_agent()
        self.agent.add_service("web-1", "web", 8080)
        self.recorders, self.checks = {}, {}
        self.folder = lab.subfolder("exec")
        self.timeouts(lab)
        self.endings(lab)
        self.unstartable(lab)
        background = lab.recorder("background", "echo up; sleep 60 & exit 0")
        self.add("background", background, interval="350ms", timeout="3s")
        self.deaths = Deaths(list(self.recorders.values()))
        self.deaths.start()
        lab.defer(self.stop)
        self.daemon = lab.probity(configuration(self.agent, self.checks),
                                  preexec_fn=self.bad_surroundings)

    @staticmethod
    def bad_surroundings():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
        signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)

    def stop(self):
        self.deaths.over = True
        self.deaths.join()

    def add(self, name, recorder, kill_grace="1s", **more):
        self.recorders[name] = recorder
        self.checks[name] = ({"command": recorder.command, "kill_grace": kill_grace},
                             {"interval": "20s", **more})

    def timeouts(self, lab):
        loop = "while :; do sleep 0.1; done"
        bodies = {"trap0": f"trap 'exit 0' TERM; {loop}", "trap1": f"trap 'exit 1' TERM; {loop}",
                  "deaf": f"trap '' TERM; {loop}"}
        for number in range(3):  # three of each: the best of them is free of noise
            for name, body in bodies.items():
                self.add(f"{name}-{number}", lab.recorder(name, body), timeout="1s")
            self.add(f"mask-{number}", lab.recorder(
                "mask", "grep -E '^Sig(Blk|Ign)' /proc/self/status; exec sleep 30"),
                timeout="1s", kill_grace="10s")

    def endings(self, lab):
        for name in ("SEGV", "KILL", "HUP", "PIPE"):
            self.checks[name] = ({"shell": f"echo before; kill -{name} $$"}, {})
        wrap = lab.script("#!/usr/bin/python3 -IS\nimport os\nos._exit(256)\n")
        self.checks["exit256"] = ([wrap], {})
        for code in (0, 1, 2, 3, 127):
            self.checks[f"exit{code}"] = ({"shell": f"echo text; exit {code}"}, {})
        self.checks["silent"] = ({"shell": "exit 7"}, {})
        self.checks["latin1"] = ({"shell": "printf 'temp \\344\\260C \\377 ok \"q\" \\\\ "
                                           "\\033[1m\\ttab'; exit 1"}, {})
        self.checks["head-and-tail"] = ({"shell": "echo first; head -c 9000 /dev/zero | tr '\\0' "
                                                  "x; echo; echo last"}, {})
        self.checks["dummy0"] = ([str(PLUGINS / "check_dummy"), "0", "fine"], {})
        self.checks["dummy2"] = ([str(PLUGINS / "check_dummy"), "2", "broken"], {})
        self.checks["disk"] = ([str(PLUGINS / "check_disk"), "-w", "1", "-c", "0", "-p", "/"], {})
        self.checks["by-name"] = (["cat", "/proc/sys/kernel/ostype"], {})

    def unstartable(self, lab):
        files = {"missing": None, "no-x": ("#!/bin/sh\nexit 0\n", 0o644),
                 "no-interpreter": ("exit 0\n", 0o755),
                 "bad-interpreter": ("#!/nowhere/sh\nexit 0\n", 0o755),
                 "crlf": ("#!/bin/sh\r\nexit 0\r\n", 0o755)}
        for name, content in files.items():
            path = self.folder / name
            if content:
                path.write_bytes(content[0].encode())
                path.chmod(content[1])
            self.checks[name] = ([str(path)], {})
        folder = lab.subfolder("folder")
        self.checks["directory"] = ([str(folder)], {})
        self.checks["unknown"] = (["no-such-program-anywhere"], {})

    def first(self, name):
        """The first update of a check that the agent took."""
        return self.agent.wait_update(f"web-1:{name}", timeout=10)

    def delays(self, name):
        """From the start of the first run to its update, of all variants of a name.

        The script itself notes the start: on a busy machine that is later than the daemon's.
        """
        return [self.first(f"{name}-{n}").at - self.recorders[f"{name}-{n}"].starts()[0]
                for n in range(3)]


@pytest.fixture(scope="module")
def variants(module_lab):
    return Variants(module_lab)


@pytest.mark.parametrize("name", ["trap0", "trap1", "deaf", "mask"])
def test_a_timeout_is_critical_at_its_time_whatever_term_does(variants, name):
    delays = variants.delays(name)
    assert min(delays) <= 1.3 and all(0.7 <= delay < 2 for delay in delays), delays
    for number in range(3):
        first = variants.first(f"{name}-{number}")
        assert first.status == "critical"
        assert first.output.startswith("timed out after 1s"), first.output


def test_a_trap_does_not_change_the_verdict_later(variants):
    for name in ("trap0", "trap1"):
        variants.deaths.after(variants.recorders[f"{name}-0"])
    time.sleep(0.5)
    for name in ("trap0", "trap1", "deaf"):
        for number in range(3):
            statuses = {u.status for u in variants.agent.updates(f"web-1:{name}-{number}")}
            assert statuses == {"critical"}


@pytest.mark.parametrize("name, least, most", [
    ("trap0", 0.7, 1.3), ("trap1", 0.7, 1.3), ("mask", 0.7, 1.3), ("deaf", 1.7, 2.3)])
def test_term_comes_at_the_timeout_and_kill_after_the_grace(variants, name, least, most):
    deaths = [variants.deaths.after(variants.recorders[f"{name}-{n}"]) for n in range(3)]
    assert min(deaths) <= most and all(least <= death < most + 0.7 for death in deaths), deaths


def test_signals_are_neither_blocked_nor_ignored(variants):
    output = variants.first("mask-0").output
    assert "SigBlk:\t" + 16 * "0" in output
    assert "SigIgn:\t" + 16 * "0" in output


@pytest.mark.parametrize("name, number", [("SEGV", 11), ("KILL", 9), ("HUP", 1), ("PIPE", 13)])
def test_killed_by_a_signal_is_critical(variants, name, number):
    first = variants.first(name)
    assert first.status == "critical"
    assert first.output.rstrip("\n") == f"killed by signal {number} ({name})\nbefore"


@pytest.mark.parametrize("name, status", [
    ("exit0", "passing"), ("exit1", "warning"), ("exit2", "critical"), ("exit3", "critical"),
    ("exit127", "critical")])
def test_exit_codes_and_their_own_text_alone(variants, name, status):
    first = variants.first(name)
    assert (first.status, first.output) == (status, "text")


def test_exit_256_is_0_and_silence_is_explained(variants):
    assert variants.first("exit256").status == "passing"
    first = variants.first("silent")
    assert (first.status, first.output) == ("critical", "exit code 7, no output")


def test_output_in_another_encoding(variants):
    first = variants.first("latin1")
    assert first.status == "warning"
    assert first.output == "temp \ufffdC \ufffd ok \"q\" \\ [1m\ttab"
    assert first.answered == 200


def test_long_output_keeps_head_and_tail(variants):
    output = variants.first("head-and-tail").output
    assert len(output.encode()) <= 4096
    head, missing, tail = re.fullmatch(r"(.*)… \[(\d+) bytes left out\] …(.*)", output,
                                       re.S).groups()
    assert head.startswith("first\nxxx") and tail.endswith("xxx\nlast")
    assert len(head) + int(missing) + len(tail) == len("first\n") + 9000 + len("\nlast")


@pytest.mark.parametrize("name, text", [
    ("missing", "No such file or directory"), ("no-x", "Permission denied"),
    ("no-interpreter", "Exec format error"), ("bad-interpreter", "No such file or directory"),
    ("crlf", "No such file or directory"), ("directory", "Permission denied"),
    ("unknown", "not found in PATH")])
def test_what_cannot_be_executed_is_critical_and_says_why(variants, name, text):
    first = variants.first(name)
    command = variants.checks[name][0][0]
    assert first.status == "critical"
    assert first.output.startswith(f"cannot start: {command}: {text}"), first.output
    assert "interpreter" in first.output or name not in ("bad-interpreter", "crlf")
    # No child has written what the daemon had not yet flushed.
    lines = [line for _, line in variants.daemon.log if f"web-1:{name}" in line]
    assert len(lines) == len(set(lines))


def test_monitoring_plugins_run_unchanged(variants):
    for name, status, text in [("dummy0", "passing", "OK: fine"),
                               ("dummy2", "critical", "CRITICAL: broken"),
                               ("disk", "passing", "DISK OK")]:
        first = variants.first(name)
        assert first.status == status, first
        assert first.output.startswith(text)
    assert variants.first("by-name").output == "Linux"


def test_a_background_process_that_holds_the_pipe_delays_nothing(variants):
    recorder, daemon = variants.recorders["background"], variants.daemon
    delay = variants.first("background").at - recorder.starts()[0]
    assert delay <= 0.6  # a script runs 0.25 s longer than its first process, at most
    wait_for(lambda: len(recorder.starts()) >= 5, 10)
    before = descriptors(daemon.pid)
    wait_for(lambda: len(recorder.starts()) >= 20, 20)
    assert abs(descriptors(daemon.pid) - before) <= 5
    updates = variants.agent.updates("web-1:background")
    assert {(u.status, u.output) for u in updates} == {("passing", "up")}
    finished = [pid for pid, at in zip(recorder.pids(), recorder.starts())
                if at < time.monotonic() - 1.5]
    assert len(finished) >= 15
    assert groups_alive(set(finished)) == []
    wait_for(lambda: not zombies(daemon.pid), 1)


def test_stdin_and_the_daemons_descriptors_are_not_for_scripts(lab, agent):
    slow = lab.server(lambda request: Reply(body="late", delay=0.6))
    agent.hook = lambda request: time.sleep(0.05)
    config = configuration(agent, {f"look-{n}": ({"shell": LOOK}, {"interval": "300ms", "timeout": "10s"})
                                   for n in range(10)})
    config["checks"] += [{"name": f"slow-{n}", "http": f"http://127.0.0.1:{slow.port}/",
                          "interval": "1s", "ttl": "3s"} for n in range(20)]
    ours, theirs = os.pipe()
    os.write(theirs, b"TOPSECRET")
    extra = os.open("/dev/null", os.O_RDONLY)
    daemon = lab.probity(config, stdin=ours, pass_fds=[extra])
    wait_for(lambda: min(daemon.check(f"look-{n}")["runs"] for n in range(10)) >= 10, 30)
    for number in range(10):
        updates = agent.updates(f"web-1:look-{number}")
        assert {(u.status, u.output) for u in updates} == {("passing", "stdin=0 extra=[]")}
    assert os.read(ours, 99) == b"TOPSECRET"
    for descriptor in (ours, theirs, extra):
        os.close(descriptor)


@as_root
def test_user_group_limits_and_surroundings(lab, agent):
    lab.folder.chmod(0o755)
    report = ("id -u; id -g; id -G; echo $HOME $USER $LOGNAME $PATH $LANG $OWN; pwd; umask; "
              "ulimit -n; ulimit -v; ulimit -p; grep NoNewPrivs /proc/self/status; "
              "readlink /proc/self/fd/0; env | cut -d= -f1 | sort | tr '\\n' ' '")
    secret = lab.subfolder("secret") / "own"
    secret.write_text("value\n")
    agent.add_service("web-1", "web", 8080)
    daemon = lab.probity(configuration(agent, {
        "all": ({"shell": report, "user": "nobody", "group": "daemon", "cwd": "/usr",
                 "umask": "0077", "env": {"OWN": {"file": str(secret)}},
                 "limits": {"memory": "64MiB", "processes": 500, "descriptors": 33}}, {}),
        "plain": ({"shell": report, "no_new_privs": False}, {}),
        "forks": ({"shell": "/bin/true & wait; echo done", "user": "games",
                   "limits": {"processes": 1}}, {}),
        "memory": (["/usr/bin/python3", "-ISc", "bytearray(1 << 26)"], {}),
        "small": ({"command": ["/usr/bin/python3", "-ISc", "bytearray(1 << 26)"],
                   "limits": {"memory": "64MiB"}}, {}),
        "cwd": ({"shell": "exit 0", "cwd": "/nowhere"}, {})}))
    lines = agent.wait_update("web-1:all").output.split("\n")
    assert lines[:3] == [str(NOBODY), "1", "1"] or lines[:2] == [str(NOBODY), "1"]
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    assert lines[3] == f"/nonexistent nobody nobody {path} C.UTF-8 value"
    assert lines[4:10] == ["/usr", "0077", "33", "65536", "500", "NoNewPrivs:\t1"]
    assert lines[10] == "/dev/null"
    assert lines[11].split() == ["HOME", "LANG", "LOGNAME", "OWN", "PATH", "PROBITY_RUN", "PWD",
                                 "USER"]
    lines = agent.wait_update("web-1:plain").output.split("\n")
    assert lines[0] == "0" and lines[3].startswith("/root root root ")
    assert lines[4:6] == ["/", "0022"] and lines[9] == "NoNewPrivs:\t0"
    forks = agent.wait_update("web-1:forks")
    assert forks.status == "critical" and "ork" in forks.output
    assert agent.wait_update("web-1:memory").status == "passing"
    small = agent.wait_update("web-1:small")
    assert small.status == "warning" and "MemoryError" in small.output
    cwd = agent.wait_update("web-1:cwd")
    assert cwd.output == "cannot start: cwd /nowhere: No such file or directory"
    # What was raised for the daemon's own sockets is not what scripts get.
    soft = subprocess.run(["sh", "-c", "ulimit -n"], capture_output=True, text=True, check=True)
    assert lines[6] == soft.stdout.strip()
    assert daemon.running


@as_root
def test_a_script_that_others_can_change_is_not_run(lab, agent):
    marker = lab.subfolder("m") / "marker"
    script = lab.script(f"echo x >> {marker}\n")
    daemon = lab.probity(configuration(agent, {"s": ([script], {"interval": "300ms"})}))
    agent.wait_update("web-1:s", "passing")
    os.chmod(script, 0o777)
    changed = time.monotonic()
    bad = agent.wait_update("web-1:s", "critical", after=changed)
    assert bad.output == f"unsafe permissions: {script} is mode 0777"
    size = marker.stat().st_size
    runs = daemon.check("s")["runs"]
    wait_for(lambda: daemon.check("s")["runs"] >= runs + 3)
    assert marker.stat().st_size == size
    os.chmod(script, 0o755)
    os.chmod(os.path.dirname(script), 0o777)
    wait_for(lambda: "is mode 0777" in agent.updates("web-1:s")[-1].output
             and script not in agent.updates("web-1:s")[-1].output, 12)
    os.chmod(os.path.dirname(script), 0o755)
    agent.wait_update("web-1:s", "passing", after=time.monotonic())


@as_root
def test_unsafe_paths_are_refused_at_load(lab):
    marker = lab.subfolder("m") / "marker"
    loose = lab.script(f"touch {marker}\n", mode=0o777)
    inside = Path(lab.script(f"touch {marker}\n"))
    inside.parent.chmod(0o777)
    link = lab.subfolder("l") / "link"
    link.symlink_to(inside)
    config = lab.subfolder("c") / "c.yaml"
    for path, culprit in [(loose, loose), (inside, inside.parent), (link, inside.parent)]:
        config.write_text("consul: off\nservice: {id: web-1}\nchecks:\n"
                          f"  - name: s\n    script: [{path}]\n")
        done = run_probity("validate", "-c", config)
        assert done.returncode == 2
        assert f"{config}:5:13: error: unsafe permissions: {culprit} is mode 0777" in done.stderr
        assert run_probity("probe", "-c", config).returncode != 0
    assert not marker.exists()


@pytest.mark.parametrize("script, column, text", [
    ("{command: [/bin/true], shell: exit 0}", 13, "exactly one of 'command' and 'shell'"),
    ("{user: root}", 13, "exactly one of 'command' and 'shell'"),
    ("[bin/true]", 13, "'bin/true' is relative"),
    ("['']", 13, "the command is empty"),
    ("{command: [/bin/true], user: no-such-user}", 42, "there is no user 'no-such-user'"),
    ("{command: [/bin/true], group: no-such-group}", 43, "there is no group 'no-such-group'"),
    ("{command: [/bin/true], env: {PROBITY_RUN: x}}", 55, "PROBITY_RUN is set by probity"),
    ("{command: [/bin/true], kill_grace: 1}", 48, "it needs a unit"),
    ("{command: [/bin/true], limits: {memroy: 1MiB}}", 45, "did you mean 'memory'"),
])
def test_mistakes_are_told_with_their_place(lab, script, column, text):
    config = lab.subfolder("c") / "c.yaml"
    config.write_text("consul: off\nservice: {id: web-1}\nchecks:\n"
                      f"  - name: s\n    script: {script}\n")
    done = run_probity("validate", "-c", config)
    assert done.returncode == 2
    assert re.search(rf":5:{column}: error: .*{re.escape(text)}", done.stderr), done.stderr


def test_nothing_outlives_the_daemon(lab, agent):
    loud = lab.recorder("deaf", "trap '' TERM; (setsid sleep 60 &); while :; do sleep 0.1; done")
    daemon = lab.probity(configuration(agent, {"deaf": (loud.command, {"timeout": "10s"})}))
    wait_for(lambda: len(descendants(daemon.pid)) >= 2)
    time.sleep(0.3)
    left = descendants(daemon.pid)
    daemon.stop(timeout=4)
    assert [pid for pid in left if alive(pid)] == []
