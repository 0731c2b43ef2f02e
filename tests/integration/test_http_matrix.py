# SPDX-License-Identifier: MIT
"""The options of the HTTP probe against real nginx: versions, TLS, compression, socket, logins."""
import subprocess

import pytest

from authority import Authority
from http_bench import expect, probe_all
from lab import free_port
from nginx import Nginx

SITES = """
    gzip on;
    gzip_min_length 1;
    gzip_types text/plain application/json;
    server {{
        listen 127.0.0.1:{plain};
        listen unix:{socket};
        root {root};
        location = / {{ add_header X-Proto $server_protocol; return 200 '$server_protocol\n'; }}
        location = /private {{
            auth_basic closed;
            auth_basic_user_file {root}/users;
            try_files /big.txt =404;
        }}
        location = /json {{ default_type application/json; return 200 '{{"lag": 3}}'; }}
        location = /slow {{ limit_rate_after 4k; limit_rate 100; try_files /big.txt =404; }}
    }}
    server {{
        listen 127.0.0.1:{h2} ssl http2;
        listen 127.0.0.1:{prior} http2;
        ssl_certificate {pair.certificate};
        ssl_certificate_key {pair.key};
        root {root};
        location = / {{ add_header X-Proto $server_protocol; return 200 '$server_protocol\n'; }}
    }}
    server {{
        listen 127.0.0.1:{h1} ssl;
        ssl_certificate {pair.certificate};
        ssl_certificate_key {pair.key};
        location = / {{ return 200 '$server_protocol $ssl_server_name $http_host\n'; }}
    }}
    server {{
        listen 127.0.0.1:{client} ssl http2;
        ssl_certificate {pair.certificate};
        ssl_certificate_key {pair.key};
        ssl_verify_client on;
        ssl_client_certificate {ca};
        location = / {{ return 200 '$ssl_client_s_dn\n'; }}
    }}
"""


class Bench:
    def __init__(self, lab):
        authority = Authority(lab.subfolder("a"))
        pair = authority.issue("DNS:web.internal", "IP:127.0.0.1")
        self.client = authority.issue("DNS:client")
        self.ca = str(authority.file)
        folder = lab.subfolder("n")
        folder.chmod(0o755)
        self.socket = str(folder / "web.sock")
        (folder / "big.txt").write_text("f" * 200000 + "READY=yes")
        words = subprocess.run(["openssl", "passwd", "-apr1", "secret"], check=True,
                               capture_output=True, text=True).stdout
        (folder / "users").write_text(f"probe:{words}")
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)
        self.ports = {name: free_port() for name in ("plain", "h2", "prior", "h1", "client")}
        nginx = Nginx(folder, SITES.format(socket=self.socket, root=folder, pair=pair, ca=self.ca,
                                           **self.ports), self.ports.values())
        lab.defer(nginx.stop)

    def at(self, name, path="/", **http):
        scheme = "http" if name in ("plain", "prior") else "https"
        more = {} if scheme == "http" else {"tls": {"ca_file": self.ca, **http.pop("tls", {})}}
        return {"url": f"{scheme}://127.0.0.1:{self.ports[name]}{path}", **more, **http}

    def identity(self):
        return {"cert_file": str(self.client.certificate), "key_file": str(self.client.key)}


# name -> (http keys, status, first line of the output, what the page says)
MATRIX = {
    "1.1": (lambda b: b.at("plain"), "passing", "HTTP 200", "HTTP/1.1"),
    "1.0": (lambda b: b.at("plain", http_version="1.0"), "passing", "HTTP 200", "HTTP/1.0"),
    "2": (lambda b: b.at("h2", http_version=2), "passing", "HTTP 200", "HTTP/2.0"),
    "2-not-asked": (lambda b: b.at("h2"), "passing", "HTTP 200", "HTTP/1.1"),
    "2-not-there": (lambda b: b.at("h1", http_version=2), "critical",
                    "protocol error: the server does not speak HTTP/2", None),
    "2-not-there-cut": (lambda b: b.at("h1", http_version=2, max_body="1B"), "critical",
                        "protocol error: the server does not speak HTTP/2", None),
    "2-prior": (lambda b: b.at("prior", http_version="2-prior-knowledge"), "passing",
                "HTTP 200", "HTTP/2.0"),
    "2-prior-to-old": (lambda b: b.at("plain", http_version="2-prior-knowledge"), "critical",
                       "(protocol error|answer cut short): .*", None),
    "2-header": (lambda b: b.at("h2", http_version=2, header_match={"x-proto": "2"}), "passing",
                 "HTTP 200", None),
    "2-kept": (lambda b: b.at("h2", http_version=2, reuse_connection=True), "passing",
               "HTTP 200", "HTTP/2.0"),
    "2-client": (lambda b: b.at("client", http_version=2, tls=b.identity()), "passing",
                 "HTTP 200", "CN=lab"),
    "2-no-client": (lambda b: b.at("client", http_version=2), "critical",
                    "unexpected status: HTTP 400", None),
    "server-name": (lambda b: b.at("h1", tls={"server_name": "web.internal"}), "passing",
                    "HTTP 200", "HTTP/1.1 web.internal 127.0.0.1:"),
    "host": (lambda b: b.at("h1", host="web.internal:8443"), "passing", "HTTP 200",
             "HTTP/1.1 web.internal web.internal:8443"),
    "host-unknown": (lambda b: b.at("h1", host="nope.internal"), "critical",
                     "TLS failed: hostname mismatch: the certificate is not for nope.internal",
                     None),
    "gzip": (lambda b: b.at("plain", "/big.txt", compression=True, body_match="READY=yes$",
                            header_match={"Content-Encoding": "gzip"}), "passing", "HTTP 200",
             None),
    "no-gzip": (lambda b: b.at("plain", "/big.txt", body_match="READY=yes$",
                               header_reject={"Content-Encoding": "."}), "passing", "HTTP 200",
                None),
    "gzip-window": (lambda b: b.at("plain", "/big.txt", compression=True, max_body="64KiB",
                                   body_match="READY=yes$"), "critical",
                    "cannot decide: HTTP 200, body exceeds match window", None),
    "socket": (lambda b: {"url": "http://web.internal/", "unix_socket": b.socket}, "passing",
               "HTTP 200", "HTTP/1.1"),
    "socket-json": (lambda b: {"url": "http://web.internal/json", "unix_socket": b.socket,
                               "json": {"/lag": {"max": 5}}}, "passing", "HTTP 200", "lag"),
    "login": (lambda b: b.at("plain", "/private", basic_auth={
        "user": "probe", "password": "secret"}, max_body="1KiB"), "passing", "HTTP 200", None),
    "login-wrong": (lambda b: b.at("plain", "/private", basic_auth={
        "user": "probe", "password": "wrong"}), "critical", "unexpected status: HTTP 401", None),
    "login-none": (lambda b: b.at("plain", "/private"), "critical",
                   "unexpected status: HTTP 401", None),
    "form": (lambda b: b.at("plain", "/big.txt", form={"a": "b"}), "critical",
             "unexpected status: HTTP 405", None),
    "slow": (lambda b: b.at("plain", "/slow", _={"timeout": "500ms"}), "critical",
             "timed out after 500ms; HTTP 200, body incomplete", None),
}


@pytest.fixture(scope="module", name="results")
def _results(module_lab):
    bench = Bench(module_lab)
    return probe_all(module_lab, {name: row[0](bench) for name, row in MATRIX.items()}).results


@pytest.mark.parametrize("name", MATRIX)
def test_nginx(results, name):
    _, status, pattern, page = MATRIX[name]
    expect(results[name], status, pattern)
    if page:
        assert results[name].output.split("\n")[1].startswith(page) or page in results[name].output
