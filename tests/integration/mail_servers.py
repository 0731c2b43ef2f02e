# SPDX-License-Identifier: MIT
"""Real servers from Debian that the examples are for, on free loopback ports, in their own folders."""
import os
import pwd
import shutil
import signal
import socket
import subprocess
from pathlib import Path

from lab import free_port
from processes import end_process, start_process, wait_for

PLACES = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def find(name):
    found = shutil.which(name, path=PLACES)
    if not found:
        raise AssertionError(f"{name} is missing: tests/install.sh installs it")
    return found


def give(folder, user):
    """The folder and all in it to the user that a server runs as."""
    if os.geteuid() == 0:
        entry = pwd.getpwnam(user)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, entry.pw_uid, entry.pw_gid)


def listens(port):
    with socket.socket() as look:
        return look.connect_ex(("127.0.0.1", port)) == 0


class Server:
    """One server; subclasses make its command. `log` is what it printed."""

    def __init__(self, folder, pair=None):
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.port = free_port()
        self.log_file = self.folder / "log"
        self.command, self.env = self.prepare(pair)
        self.start()

    def start(self):
        """Once more after stop(), on the same port."""
        with self.log_file.open("wb") as log:
            self.process = start_process(self.command, stdin=subprocess.DEVNULL, stdout=log,
                                         stderr=subprocess.STDOUT, cwd=self.folder,
                                         env={**os.environ, **self.env})
        wait_for(self.is_up, 60, what=lambda: f"{type(self).__name__}: {self.log}")

    def prepare(self, pair):
        raise NotImplementedError

    def is_up(self):
        if self.process.poll() is not None:
            raise AssertionError(f"{type(self).__name__} ended: {self.log}")
        return listens(self.port)

    @property
    def log(self):
        return self.log_file.read_text(errors="replace")

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        end_process(self.process, signal.SIGTERM)


class Memcached(Server):
    def prepare(self, pair):
        return [find("memcached"), "-u", "nobody", "-l", "127.0.0.1", "-p", str(self.port),
                "-U", "0", "-t", "1", "-vv"], {}


class Sshd(Server):
    def prepare(self, pair):
        key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        config = self.folder / "sshd_config"
        config.write_text(f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {key}\n"
                          f"PidFile {self.folder}/pid\nUsePAM no\nLogLevel VERBOSE\n")
        return [find("sshd"), "-D", "-e", "-f", str(config)], {}


class Dovecot(Server):
    def prepare(self, pair):
        config = self.folder / "dovecot.conf"
        config.write_text(f"""
base_dir = {self.folder}/run
state_dir = {self.folder}/state
log_path = /dev/stderr
protocols = imap
listen = 127.0.0.1
default_login_user = nobody
default_internal_user = nobody
default_internal_group = nogroup
mail_location = maildir:{self.folder}/mail
ssl = required
ssl_cert = <{pair.certificate}
ssl_key = <{pair.key}
service imap-login {{
  chroot =
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {self.port}
    ssl = yes
  }}
}}
service anvil {{
  chroot =
}}
passdb {{
  driver = static
  args = nopassword=y
}}
userdb {{
  driver = static
  args = uid=nobody gid=nogroup home={self.folder}/mail
}}
""")
        return [find("dovecot"), "-F", "-c", str(config)], {}


class Exim(Server):
    def prepare(self, pair):
        spool = self.folder / "spool"
        spool.mkdir()
        shutil.copy(pair.certificate, spool / "cert.pem")
        shutil.copy(pair.key, spool / "key.pem")
        config = self.folder / "exim.conf"
        config.write_text(f"""
spool_directory = {spool}
log_file_path = {spool}/log-%slog
primary_hostname = mx.example.org
tls_advertise_hosts = *
tls_certificate = {spool}/cert.pem
tls_privatekey = {spool}/key.pem
log_selector = +smtp_protocol_error +smtp_connection +smtp_syntax_error +tls_cipher
acl_smtp_rcpt = acl_rcpt
begin acl
acl_rcpt:
  deny
begin routers
""")
        give(spool, "Debian-exim")
        config.chmod(0o644)
        return [find("exim4"), "-bdf", "-q1h", "-oX", f"127.0.0.1.{self.port}", "-oP",
                str(self.folder / "pid"), "-C", str(config)], {}

    @property
    def log(self):
        logs = sorted((self.folder / "spool").glob("log-*"))
        return super().log + "".join(path.read_text(errors="replace") for path in logs)


class RabbitMq(Server):
    def prepare(self, pair):
        for name in ("mnesia", "logs", "home"):
            (self.folder / name).mkdir()
        (self.folder / "enabled_plugins").write_text("[].\n")
        config = self.folder / "rabbitmq"
        config.with_suffix(".conf").write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\nlog.console = true\n"
            "log.console.level = info\nlog.file = false\n"
            "distribution.listener.interface = 127.0.0.1\n")
        give(self.folder, "rabbitmq")
        self.epmd = free_port()
        server = find("rabbitmq-server")
        command = [server]
        if os.geteuid() == 0:
            # The script in /usr/sbin would change the user itself, and drop the environment.
            command = ["setpriv", "--reuid=rabbitmq", "--regid=rabbitmq", "--clear-groups",
                       "/usr/lib/rabbitmq/bin/rabbitmq-server"]
        return command, {
            "HOME": str(self.folder / "home"), "ERL_EPMD_PORT": str(self.epmd),
            "ERL_EPMD_ADDRESS": "127.0.0.1", "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_NODENAME": f"probity{self.port}@localhost",
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "logs"),
            "RABBITMQ_CONFIG_FILE": str(config),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+sbwt none +S 1:1"}

    def is_up(self):
        return super().is_up() and "Server startup complete" in self.log
