# SPDX-License-Identifier: MIT
"""The ways to reach an agent and to tell it things, against a real one."""
import shutil

from agent_bench import SideBySide, Switch, config, says
from authority import Authority
from lab import free_port, wait_for

READY = "web-1:ready"

together = SideBySide(6)


def consul_with_tls(lab):
    """(agent that wants client certificates on its https port, that port, its authority)"""
    authority = Authority(lab.subfolder("ca"))
    server = authority.issue("DNS:server.dc1.consul", "IP:127.0.0.1",
                             usage="serverAuth,clientAuth")
    port = free_port()
    consul = lab.consul(config=f'''
        ca_file = "{authority.file}"
        cert_file = "{server.certificate}"
        key_file = "{server.key}"
        verify_incoming_https = true
        ports {{ https = {port} }}
        addresses {{ https = "127.0.0.1" }}''')
    consul.register_service("web-1", "web", 8080)
    return consul, port, authority


def secure(port, authority, client=None, **more):
    """What stands under `consul`."""
    tls = {"ca_file": str(authority.file), **more}
    if client is not None:
        tls.update(cert_file=str(client.certificate), key_file=str(client.key))
    return {"address": f"https://127.0.0.1:{port}", "tls": tls}


def beside(consul, check, agent):
    return {**config(consul, check), "consul": agent}


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


@together
def https_with_a_client_certificate(lab):
    consul, port, authority = consul_with_tls(lab)
    client = authority.issue("DNS:probity", usage="clientAuth")
    switch = Switch(lab)
    daemon = lab.probity(beside(consul, switch.check(), secure(port, authority, client)))
    consul.wait_status(READY, "passing")
    switch.status = 500
    consul.wait_status(READY, "critical")
    # A reload keeps the connections; other files make new ones.
    other = authority.issue("DNS:probity", usage="clientAuth")
    daemon.reload(beside(consul, switch.check(), secure(port, authority, other)))
    switch.status = 200
    consul.wait_status(READY, "passing")
    daemon.logged(0, "TLS")


@together
def https_under_another_name(lab):
    """The address is a number, and the certificate is for a name."""
    consul, port, authority = consul_with_tls(lab)
    client = authority.issue("DNS:probity", usage="clientAuth")
    daemon = lab.probity(beside(consul, says("passing", "ok"), secure(
        port, authority, client, server_name="server.dc1.consul")))
    consul.wait_status(READY, "passing")
    daemon.reload(beside(consul, says("passing", "ok"), secure(
        port, authority, client, server_name="server.dc2.consul")))
    daemon.wait_log("TLS: hostname mismatch: the certificate is not for server.dc2.consul")


@together
def https_without_a_client_certificate_is_told_as_that(lab):
    """With TLS 1.3 the refusal comes after the handshake: not a reset connection."""
    consul, port, authority = consul_with_tls(lab)
    daemon = lab.probity(beside(consul, says("passing", "ok"), secure(port, authority)))
    daemon.wait_log(r"TLS: the agent (refuses: |closed ).*\(no client certificate is configured")
    daemon.logged(1, "cannot be used")
    assert consul.check(READY) is None


@together
def https_with_a_certificate_of_strangers_is_told_as_that(lab):
    consul, port, authority = consul_with_tls(lab)
    strangers = Authority(lab.subfolder("other"), "Other CA")
    client = strangers.issue("DNS:probity", usage="clientAuth")
    daemon = lab.probity(beside(consul, says("passing", "ok"), secure(port, authority, client)))
    daemon.wait_log(r"TLS: the agent (refuses: |closed ).*\(the client certificate is that of consul.tls\)")
    # The right one under the same names: read again, and accepted.
    mine = authority.issue("DNS:probity", usage="clientAuth")
    shutil.copy(mine.key, client.key)
    shutil.copy(mine.certificate, client.certificate)
    consul.wait_status(READY, "passing", timeout=8)
    daemon.wait_log("answers again")


@together
def https_with_an_unknown_authority_is_refused(lab):
    consul, port, authority = consul_with_tls(lab)
    strangers = Authority(lab.subfolder("other"), "Other CA")
    client = authority.issue("DNS:probity", usage="clientAuth")
    daemon = lab.probity(beside(consul, says("passing", "ok"), secure(port, strangers, client)))
    daemon.wait_log("cannot be used: TLS: unable to get local issuer certificate")
    assert consul.check(READY) is None
    missing = secure(port, authority, client, ca_file=str(lab.folder / "none.pem"))
    daemon.reload(beside(consul, says("passing", "ok"), missing))
    daemon.wait_log("none.pem: No such file or directory")
    daemon.reload(beside(consul, says("passing", "ok"), secure(port, authority, client)))
    consul.wait_status(READY, "passing", timeout=8)


@together
def unix_socket_of_a_real_agent(lab):
    path = lab.folder / "agent.sock"
    consul = lab.consul(config=f'''
        addresses {{ http = "127.0.0.1 unix://{path}" }}''')
    consul.register_service("web-1", "web", 8080)
    lab.probity({**config(consul, says("warning", "hm")), "consul": f"unix://{path}"})
    consul.wait_status(READY, "warning")


test_together = together.test()
