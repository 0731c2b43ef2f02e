# SPDX-License-Identifier: MIT
"""A Consul agent played on loopback: keeps services and checks, logs every call, lies on request."""
import collections
import hashlib
import json
import re
import threading
import time

from http_server import HttpServer, Reply, strict_json

Update = collections.namedtuple("Update", "at check status output answered connection")

CHECK_KEYS = {"ID", "Name", "ServiceID", "TTL", "Status", "Notes", "Interval", "Timeout", "HTTP",
              "TCP", "Args", "OutputMaxSize", "DeregisterCriticalServiceAfter",
              "SuccessBeforePassing", "FailuresBeforeCritical", "Namespace"}
SERVICE_CHECK_KEYS = (CHECK_KEYS - {"ID", "ServiceID"}) | {"CheckID"}
SERVICE_KEYS = {"ID", "Name", "Port", "Address", "Tags", "Meta", "Check", "Checks", "Weights",
                "EnableTagOverride", "TaggedAddresses", "Namespace"}
STATUSES = ("passing", "warning", "critical")
UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}
VERBS = {"pass": "passing", "warn": "warning", "fail": "critical"}


class Bad(Exception):
    """An answer other than 200."""

    def __init__(self, status, text):
        super().__init__(text)
        self.reply = Reply(status, text)


def seconds(text):
    if not isinstance(text, str) or not re.fullmatch(r"([0-9.]+(ms|s|m|h))+", text):
        raise Bad(400, f"Request decode failed: time: invalid duration {text!r}")
    return sum(float(n) * UNITS[u] for n, u in re.findall(r"([0-9.]+)(ms|s|m|h)", text))


class FakeAgent(HttpServer):
    """See HttpServer for hook, close, open, drop. `problems` lists what a real agent refuses.

    A hook may call agent.apply(request) to have the request take effect and still answer
    something else, or nothing.
    """

    def __init__(self, hook=None, port=0, unix=None, tls=None, node="n1"):
        self.node = node
        self.services = {}
        self.checks = {}
        self.problems = []
        self.changed = threading.Condition()
        self.unknown_check = (500, 'CheckID "{id}" does not have associated TTL')
        super().__init__(hook, port, unix, tls)

    # What tests set up and look at.

    def add_service(self, ident, name=None, port=0, **more):
        self._store_service({"ID": ident, "Name": name or ident, "Port": port, **more})

    def forget(self):
        """Lost state: no services, no checks."""
        with self.changed:
            self.services.clear()
            self.checks.clear()
            self.changed.notify_all()

    def remove_service(self, ident):
        with self.changed:
            self.services.pop(ident, None)
            for check in [c for c in self.checks.values() if c["ServiceID"] == ident]:
                del self.checks[check["CheckID"]]
            self.changed.notify_all()

    def calls(self, method=None, prefix="", after=0):
        """Logged requests, oldest first, by method and decoded path prefix."""
        with self.lock:
            return [r for r in self.requests if method in (None, r.method)
                    and r.path.startswith(prefix) and r.at >= after]

    def updates(self, check=None, after=0, accepted=False):
        """Every PUT check/update (and pass, warn, fail) as Update tuples."""
        found = []
        for request in self.calls("PUT", "/v1/agent/check/", after):
            verb, _, ident = request.path[len("/v1/agent/check/"):].partition("/")
            if verb in VERBS:
                status, output = VERBS[verb], request.query.get("note", "")
            elif verb == "update" and isinstance(request.json, dict):
                status, output = request.json.get("Status"), request.json.get("Output", "")
            else:
                continue
            if check in (None, ident) and (not accepted or request.answered == 200):
                found.append(Update(request.at, ident, status, output, request.answered,
                                    request.connection))
        return found

    def registrations(self, check=None, after=0):
        """(at, body) of each check/register."""
        return [(r.at, r.json) for r in self.calls("PUT", "/v1/agent/check/register", after)
                if check is None or (r.json or {}).get("ID") == check]

    def status(self, check):
        with self.changed:
            known = self.checks.get(check)
            return None if known is None else self._view(known)["Status"]

    def wait_update(self, check, status=None, after=0, timeout=5, accepted=True):
        """The first update of the check (with this status) at or after a time."""
        end = time.monotonic() + timeout
        while True:
            for update in self.updates(check, after, accepted):
                if status in (None, update.status):
                    return update
            if time.monotonic() > end:
                raise AssertionError(f"no {status or 'any'} update of {check} in {timeout} s; "
                                     f"updates: {self.updates(check)}")
            time.sleep(0.01)

    # Answers.

    def answer(self, request):
        try:
            return self.apply(request)
        except Bad as bad:
            with self.lock:
                self.problems.append(f"{request.line}: {bad} {request.body[:300]!r}")
            return bad.reply

    def decode(self, request):
        if request.method != "PUT" or not request.body:
            return
        try:
            request.json = strict_json(request.body)
        except (ValueError, UnicodeDecodeError) as error:
            with self.lock:
                self.problems.append(f"{request.line}: {error}: {request.body[:300]!r}")

    def apply(self, request):
        """Does what the request asks for and returns the honest Reply; raises Bad."""
        if request.method not in ("GET", "PUT"):
            raise Bad(405, f"method {request.method} not allowed")
        path = request.path
        for method, prefix, call in self._routes():
            if request.method == method and path.startswith(prefix):
                return call(request, path[len(prefix):])
        raise Bad(404, "")

    def _routes(self):
        return (
            ("PUT", "/v1/agent/check/register", self._register_check),
            ("PUT", "/v1/agent/check/deregister/", self._deregister_check),
            ("PUT", "/v1/agent/check/", self._update_check),
            ("PUT", "/v1/agent/service/register", self._register_service),
            ("PUT", "/v1/agent/service/deregister/", self._deregister_service),
            ("GET", "/v1/agent/checks", self._get_checks),
            ("GET", "/v1/agent/services", self._get_services),
            ("GET", "/v1/agent/service/", self._get_service),
            ("GET", "/v1/agent/self", self._get_self),
            ("GET", "/v1/agent/health/service/id/", self._get_service_health),
            ("GET", "/v1/health/checks/", self._get_health_checks),
            ("GET", "/v1/health/node/", self._get_health_node),
            ("GET", "/v1/health/service/", self._get_health_service),
            ("GET", "/v1/status/leader", lambda request, rest: _json("127.0.0.1:8300")),
        )

    @staticmethod
    def _body(request, keys):
        if not isinstance(request.json, dict):
            raise Bad(400, "Request decode failed: not one JSON object")
        for key in request.json:
            if key not in keys:
                raise Bad(400, f'Request decode failed: json: unknown field "{key}"')
        return request.json

    # Checks.

    def _store_check(self, ident, body, service):
        if "TTL" not in body and "Interval" not in body:
            raise Bad(400, "Invalid check: TTL must be > 0 for TTL checks")
        ttl = seconds(body["TTL"]) if "TTL" in body else None
        status = body.get("Status", "critical")
        if status not in STATUSES:
            raise Bad(400, "Bad check status")
        if not body.get("Name"):
            raise Bad(400, "Missing check name")
        old = self.checks.get(ident)
        self.checks[ident] = {
            "Node": self.node, "CheckID": ident, "Name": body["Name"],
            "Status": old["Status"] if old else status, "Notes": body.get("Notes", ""),
            "Output": old["Output"] if old else "", "ServiceID": service or "",
            "ServiceName": self.services[service]["Service"] if service else "",
            "ServiceTags": [], "Type": "ttl" if ttl else "http", "Definition": {},
            "_ttl": ttl, "_renewed": time.monotonic(),
        }

    def _register_check(self, request, _rest):
        body = self._body(request, CHECK_KEYS)
        service = body.get("ServiceID")
        with self.changed:
            if service and service not in self.services:
                return Reply(500, f'ServiceID "{service}" does not exist')
            self._store_check(body.get("ID") or body.get("Name"), body, service)
            self.changed.notify_all()
        return Reply()

    def _deregister_check(self, _request, ident):
        with self.changed:
            self.checks.pop(ident, None)
            self.changed.notify_all()
        return Reply()

    def _update_check(self, request, rest):
        verb, _, ident = rest.partition("/")
        if verb in VERBS:
            status, output = VERBS[verb], request.query.get("note", "")
        elif verb == "update":
            body = self._body(request, {"Status", "Output"})
            status, output = body.get("Status"), body.get("Output", "")
            if status not in STATUSES:
                raise Bad(400, f"Invalid check status: {status!r}")
            if not isinstance(output, str):
                raise Bad(400, "Request decode failed: Output is not a string")
        else:
            raise Bad(404, "")
        with self.changed:
            check = self.checks.get(ident)
            if check is None or check["_ttl"] is None:
                code, text = self.unknown_check
                return Reply(code, text.replace("{id}", ident))
            check.update(Status=status, Output=output[:4096], _renewed=time.monotonic())
            self.changed.notify_all()
        return Reply()

    @staticmethod
    def _view(check):
        seen = {key: value for key, value in check.items() if not key.startswith("_")}
        if check["_ttl"] and time.monotonic() > check["_renewed"] + check["_ttl"]:
            last = check["Output"]
            seen["Status"] = "critical"
            seen["Output"] = "TTL expired" + (
                f" (last output before timeout follows): {last}" if last else "")
        return seen

    def _views(self, keep):
        with self.changed:
            return [view for view in map(self._view, self.checks.values()) if keep(view)]

    def _get_checks(self, request, _rest):
        keep = _filter(request.query.get("filter"))
        return _json({view["CheckID"]: view for view in self._views(keep)})

    def _get_health_checks(self, _request, name):
        return _json(self._views(lambda view: view["ServiceName"] == name))

    def _get_health_node(self, _request, node):
        return _json(self._views(lambda view: node == self.node))

    # Services.

    def _store_service(self, body):
        ident = body.get("ID") or body.get("Name")
        if not body.get("Name"):
            raise Bad(400, "Missing service name")
        with self.changed:
            self.services[ident] = {
                "ID": ident, "Service": body["Name"], "Tags": body.get("Tags") or [],
                "Meta": body.get("Meta") or {}, "Port": body.get("Port", 0),
                "Address": body.get("Address", ""),
                "Weights": body.get("Weights") or {"Passing": 1, "Warning": 1},
                "EnableTagOverride": body.get("EnableTagOverride", False),
            }
            checks = body.get("Checks") or ([body["Check"]] if body.get("Check") else [])
            for number, check in enumerate(checks, 1):
                for key in check:
                    if key not in SERVICE_CHECK_KEYS:
                        raise Bad(400, f'Request decode failed: json: unknown field "{key}"')
                fallback = f"service:{ident}" + (f":{number}" if len(checks) > 1 else "")
                named = {"Name": f"Service '{body['Name']}' check", **check}
                self._store_check(check.get("CheckID") or fallback, named, ident)
            self.changed.notify_all()

    def _register_service(self, request, _rest):
        body = self._body(request, SERVICE_KEYS)
        if "replace-existing-checks" in request.query:
            with self.changed:
                for check in [c for c in self.checks.values() if c["ServiceID"] == body.get("ID")]:
                    del self.checks[check["CheckID"]]
        self._store_service(body)
        return Reply()

    def _deregister_service(self, _request, ident):
        self.remove_service(ident)
        return Reply()

    def _get_services(self, _request, _rest):
        with self.changed:
            return _json(self.services)

    def _get_service(self, request, ident):
        end = time.monotonic() + (seconds(request.query.get("wait", "5m"))
                                  if "hash" in request.query else 0)
        with self.changed:
            while True:
                service = self.services.get(ident)
                if service is None:
                    return Reply(404, f"unknown service ID: {ident}")
                text = json.dumps(service, sort_keys=True)
                mark = hashlib.sha256(text.encode()).hexdigest()[:16]
                if mark != request.query.get("hash") or time.monotonic() >= end:
                    body = {**service, "ContentHash": mark, "Datacenter": "dc1"}
                    return _json(body, {"X-Consul-ContentHash": mark})
                self.changed.wait(min(1, max(0, end - time.monotonic())))

    def _get_service_health(self, _request, ident):
        with self.changed:
            if ident not in self.services:
                return Reply(404, f"ServiceId {ident} not found")
        views = self._views(lambda view: view["ServiceID"] in ("", ident))
        worst = max([STATUSES.index(view["Status"]) for view in views], default=0)
        return _json({"AggregatedStatus": STATUSES[worst], "Checks": views},
                     status=(200, 429, 503)[worst])

    def _get_health_service(self, request, name):
        with self.changed:
            services = [s for s in self.services.values() if s["Service"] == name]
        found = []
        for service in services:
            views = self._views(lambda v, s=service: v["ServiceID"] in ("", s["ID"]))
            if "passing" not in request.query or all(v["Status"] == "passing" for v in views):
                found.append({"Node": {"Node": self.node}, "Service": service, "Checks": views})
        return _json(found)

    def _get_self(self, _request, _rest):
        return _json({"Config": {"NodeName": self.node, "Datacenter": "dc1",
                                 "Version": "1.8.7", "Server": True},
                      "Member": {"Name": self.node}})


def _json(value, headers=None, status=200):
    return Reply(status, json.dumps(value),
                 {"Content-Type": "application/json", **(headers or {})})


def _filter(text):
    """Understands `Selector == "value"`, joined by `and` or by `or`."""
    if not text:
        return lambda view: True
    joiner = " and " if " and " in text else " or "
    terms = []
    for term in text.split(joiner):
        match = re.fullmatch(r'\(?\s*(\w+) (==|!=) "?((?:[^"\\]|\\.)*)"?\s*\)?', term.strip())
        if match is None:
            raise Bad(500, f"Failed to create boolean expression evaluator: {text}")
        name, operator, value = match.groups()
        value = re.sub(r"\\(.)", r"\1", value)
        terms.append(lambda v, n=name, o=operator, x=value: (str(v.get(n, "")) == x) == (o == "=="))
    every = all if joiner == " and " else any
    return lambda view: every(term(view) for term in terms)

