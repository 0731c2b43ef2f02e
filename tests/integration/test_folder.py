# SPDX-License-Identifier: MIT
"""A folder as configuration: bad files left out, reloads all or nothing, several services."""
import json
import os
import time

from agent_bench import SideBySide
from lab import free_port, run_probity, wait_for

together = SideBySide(6)


class Folder:
    """A folder of files; configurations are what JSON can say, or text."""

    def __init__(self, lab, **files):
        self.path = lab.subfolder("d") / "conf.d"
        self.path.mkdir(mode=0o755)
        for stem, content in files.items():
            self.write(stem, content)

    def write(self, stem, content):
        text = content if isinstance(content, str) else json.dumps(content, indent=1)
        new = self.path / f".{stem}.new"
        new.write_text(text, encoding="utf-8")
        new.chmod(0o600)
        new.rename(self.path / f"{stem}.yaml")

    def remove(self, stem):
        (self.path / f"{stem}.yaml").unlink()

    def run(self, lab):
        daemon = lab.probity("", start=False)
        daemon.config = self.path
        return daemon.start()


def script(name, **more):
    return {"name": name, "node": True, "script": ["/bin/true"], "interval": "500ms", **more}


def file(*checks, **top):
    return {**top, "checks": list(checks)}


OFF = {"consul": "off"}
BAD = "checks:\n  - {name: broken, scrpt: [/bin/true], node: true}\n"


def ids(daemon):
    return sorted(check["id"] for check in daemon.status()["checks"])


@together
def a_bad_file_is_left_out_loudly(lab):
    folder = Folder(lab, a=file(script("a"), **OFF), b=BAD, c=file(script("c")))
    daemon = folder.run(lab)
    assert ids(daemon) == ["probity:a", "probity:c"]
    left, = daemon.status()["left_out"]
    assert left["file"] == str(folder.path / "b.yaml")
    assert ":2:5: no probe here" in left["problem"]
    daemon.logged(1, r"b\.yaml is left out.*no probe here")
    table = run_probity("status", "--runtime-dir", daemon.runtime_dir).stdout
    assert "left out: " in table and "b.yaml:2:5" in table
    # Still bad: said again, and nobody else is held up.
    folder.write("d", file(script("d")))
    daemon.reload()
    wait_for(lambda: "probity:d" in ids(daemon), 5)
    daemon.logged(2, r"b\.yaml is left out")
    assert daemon.status()["reload_error"] is None
    folder.write("b", file(script("b")))
    daemon.reload()
    wait_for(lambda: "probity:b" in ids(daemon), 5)
    assert daemon.status()["left_out"] == []


@together
def a_reload_is_all_or_nothing(lab):
    folder = Folder(lab, a=file(script("a"), script("moves"), **OFF), b=file(script("b")))
    daemon = folder.run(lab)
    daemon.wait_check("probity:moves", 2)
    # The check is on its way to a file with a mistake: it must not be lost in between.
    folder.write("a", file(script("a"), **OFF))
    folder.write("b", {"checks": [script("b"), script("moves"), {"name": "x", "nod": True}]})
    daemon.reload()
    wait_for(lambda: daemon.status()["reload_error"], 5)
    assert "b.yaml" in daemon.status()["reload_error"]
    assert ids(daemon) == ["probity:a", "probity:b", "probity:moves"]
    assert daemon.status()["left_out"] == []
    # A new file with a mistake as well.
    folder.write("b", file(script("b"), script("moves")))
    folder.write("z", BAD)
    daemon.reload()
    wait_for(lambda: "z.yaml" in (daemon.status()["reload_error"] or ""), 5)
    runs = daemon.check("probity:moves")["runs"]
    folder.remove("z")
    daemon.reload()
    wait_for(lambda: daemon.status()["reload_error"] is None, 5)
    assert ids(daemon) == ["probity:a", "probity:b", "probity:moves"]
    assert daemon.check("probity:moves")["runs"] >= runs, "it moved unchanged, and goes on"
    folder.remove("b")
    daemon.reload()
    wait_for(lambda: ids(daemon) == ["probity:a"], 5)


@together
def nothing_starts_without_the_file_about_the_agent(lab):
    folder = Folder(lab, a="consul: {address: 'http://127.0.0.1:8501', tokn_file: /x}\n",
                    b=file(script("b")))
    done = run_probity("run", "-c", folder.path, "--runtime-dir", lab.subfolder("r"))
    assert done.returncode == 2
    assert "did you mean 'token_file'" in done.stderr and "nothing is started" in done.stderr


@together
def nothing_starts_where_no_file_is_good(lab):
    folder = Folder(lab, a=BAD, b=BAD.replace("broken", "other"))
    done = run_probity("run", "-c", folder.path, "--runtime-dir", lab.subfolder("r"))
    assert done.returncode == 2 and "no file of it can be used" in done.stderr


@together
def files_that_are_none_or_not_ours_are_bad(lab):
    folder = Folder(lab, a=file(script("a"), **OFF), b=file(script("b")))
    os.mkfifo(folder.path / "fifo.yaml", 0o600)
    (folder.path / "notes.txt").write_text("nobody reads this")
    (folder.path / ".hidden.yaml").write_text("nor this")
    (folder.path / "link.yaml").symlink_to(folder.path / ".target")
    (folder.path / ".target").write_text(json.dumps(file(script("linked"))))
    (folder.path / ".target").chmod(0o600)
    (folder.path / "b.yaml").chmod(0o666)
    daemon = folder.run(lab)
    left = {os.path.basename(one["file"]): one["problem"] for one in daemon.status()["left_out"]}
    assert "not a regular file" in left.pop("fifo.yaml")
    if os.geteuid() == 0:
        assert "mode 0666" in left.pop("b.yaml") and "probity:b" not in ids(daemon)
    assert not left and {"probity:a", "probity:linked"} <= set(ids(daemon))


@together
def a_relative_path_is_looked_at_as_well(lab):
    if os.geteuid() != 0:
        return
    folder = Folder(lab, a=file(script("a"), **OFF))
    (folder.path / "a.yaml").chmod(0o666)
    for path in ("a.yaml", "./a.yaml", "../conf.d/a.yaml", "../conf.d", "."):
        done = run_probity("validate", "-c", path, cwd=folder.path)
        assert done.returncode == 2 and "mode 0666" in done.stderr, (path, done)


@together
def probe_runs_the_good_files_and_says_the_bad(lab):
    folder = Folder(lab, a=file(script("a"), **OFF), b=BAD)
    done = run_probity("probe", "-c", folder.path)
    assert done.returncode == 2 and "passing" in done.stdout and "b.yaml:2:5: error" in done.stderr
    assert run_probity("validate", "-c", folder.path).returncode == 2
    folder.write("b", file(script("b")))
    assert run_probity("probe", "-c", folder.path).returncode == 0
    assert run_probity("validate", "-c", folder.path).stdout == \
        f"{folder.path}: 2 checks in 2 files, no errors\n"


def own(ident, name, *checks):
    return {"services": [{"id": ident, "register": {"name": name, "port": 80},
                          "checks": [{**check, "node": False} for check in checks]}]}


@together
def services_are_registered_whole_and_leave_alone(lab, agent):
    """web-1 is somebody else's (the bench registers it); the others are ours."""
    at = {"consul": {"address": agent.url}}
    folder = Folder(lab, common=at, mail=own("mail-1", "mail", script("greets"), script("deep")),
                    cache=own("cache-1", "cache", script("stores")),
                    web=file(script("ready", node=False), service={"id": "web-1"}),
                    node=file(script("disk")))
    daemon = folder.run(lab)
    expected = ["cache-1:stores", "mail-1:deep", "mail-1:greets", "probity:disk", "web-1:ready"]
    assert ids(daemon) == expected
    for ident in expected:
        wait_for(lambda ident=ident: agent.status(ident) == "passing", 5, what=ident)
    calls = agent.calls("PUT", "/v1/agent/service/register")
    bodies = {call.json["ID"]: call.json for call in calls}
    assert set(bodies) == {"mail-1", "cache-1"} and len(calls) == 2
    assert len(bodies["mail-1"]["Checks"]) == 2, "all its checks in one call"
    folder.remove("cache")
    daemon.reload()
    wait_for(lambda: agent.status("cache-1:stores") is None, 5)
    daemon.wait_log("service cache-1 has no check any more")
    assert not agent.calls("PUT", "/v1/agent/service/deregister"), "only checks are taken away"


@together
def services_reach_the_readers_of_a_real_agent(lab, consul):
    folder = Folder(lab, common={"consul": {"address": consul.url}},
                    mail=own("mail-1", "mail", script("greets"), script("deep")),
                    cache=own("cache-1", "cache", script("stores", script=["/bin/false"])),
                    web=file(script("ready", node=False), service={"id": "web-1"}))
    daemon = folder.run(lab)
    for service, passing in (("mail", 1), ("web", 1), ("cache", 0)):
        wait_for(lambda s=service, n=passing: len(consul.health(s)) == 1 and
                 len(consul.health(s, passing=True)) == n, 8,
                 what=lambda s=service: f"{s}: {consul.health(s)}")
    folder.remove("mail")
    daemon.reload()
    wait_for(lambda: consul.check("mail-1:greets") is None, 5)
    assert consul.status("web-1:ready") == "passing"


@together
def a_thousand_checks_are_reloaded_at_once(lab):
    # No scripts: a thousand of them at once keep two cores busy for as long as the test may take.
    closed = f"127.0.0.1:{free_port()}"
    files = {f"f{number:02}": file(*[
        {"name": f"c{number:02}-{check}", "node": True, "tcp": closed, "interval": "1h"}
        for check in range(20)]) for number in range(50)}
    folder = Folder(lab, common=OFF, **files)
    daemon = folder.run(lab)
    assert len(ids(daemon)) == 1000
    began = time.monotonic()
    daemon.reload()
    wait_for(lambda: daemon.status()["reloads"] == 1, 25)
    daemon.wait_log("1000 checks, 1000 of them unchanged", timeout=25)
    # It takes some hundredths; what grew with the square would take minutes.
    assert time.monotonic() - began < 30


test = together.test()
