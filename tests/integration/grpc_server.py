# SPDX-License-Identifier: MIT
"""A real gRPC server (grpcio) with the standard health service, in a process of its own.

As a module: GrpcServer starts one, and commands it. As a program: that process; it takes JSON
lines on its standard input and answers each with one.
"""
import json
import subprocess
import sys
import threading
import time

UNKNOWN, SERVING, NOT_SERVING, SERVICE_UNKNOWN = range(4)
PYTHON = "/usr/bin/python3"


class GrpcServer:
    """statuses: service -> a number, {"abort": [CODE, TEXT]}, {"sleep": s} or {"bytes": hex}.

    address: where to listen, a free loopback port unless given (also unix:///PATH). pair: its
    certificate; clients: the file of an authority that clients must have one from. health: False
    for a server that does not have the service.
    """

    def __init__(self, address="127.0.0.1:0", statuses=None, pair=None, clients=None, health=True):
        from processes import start_process  # not there for the program
        options = {"address": address, "health": health, "clients": clients and str(clients),
                   "pair": pair and [str(pair.certificate), str(pair.key)],
                   "statuses": {"": SERVING} if statuses is None else statuses}
        self.process = start_process([PYTHON, __file__, json.dumps(options)], text=True,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.port = self._answer()["port"]
        self.address = address if address.startswith("unix:") else f"127.0.0.1:{self.port}"

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("the gRPC server ended")
        return json.loads(line)

    def ask(self, **command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return self._answer()

    def set(self, status, service=""):
        self.ask(set=[service, status])

    def calls(self):
        """{method, service, metadata, left, authority, peer} of each call so far."""
        return self.ask(calls=True)["calls"]

    def watchers(self):
        return self.ask(watchers=True)["watchers"]

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        from processes import end_process
        end_process(self.process)
        self.process.stdin.close()
        self.process.stdout.close()


class Health:
    """The service. Messages are bytes: Debian has no package with its protobuf."""

    def __init__(self, statuses):
        self.statuses = statuses
        self.changed = threading.Condition()
        self.calls = []
        self.watching = 0

    @staticmethod
    def _service(request):
        return request[2:].decode() if request else ""

    def _note(self, method, request, context):
        metadata = {key: value if isinstance(value, str) else value.hex()
                    for key, value in context.invocation_metadata()}
        self.calls.append({"method": method, "service": self._service(request),
                           "metadata": metadata, "left": context.time_remaining(),
                           "peer": context.peer()})

    @staticmethod
    def _message(status):
        if isinstance(status, dict):
            return bytes.fromhex(status["bytes"])
        return bytes([8, status])

    def check(self, request, context):
        self._note("Check", request, context)
        status = self.statuses.get(self._service(request), {"abort": ["NOT_FOUND", "unknown service"]})
        if isinstance(status, dict) and "sleep" in status:
            time.sleep(status["sleep"])
            status = SERVING
        if isinstance(status, dict) and "abort" in status:
            import grpc
            context.abort(grpc.StatusCode[status["abort"][0]], status["abort"][1])
        return self._message(status)

    def watch(self, request, context):
        import grpc
        self._note("Watch", request, context)
        service, last = self._service(request), None
        with self.changed:
            self.watching += 1
        context.add_callback(self._wake)
        try:
            while context.is_active():
                status = self.statuses.get(service, SERVICE_UNKNOWN)
                if isinstance(status, dict) and "abort" in status:
                    context.abort(grpc.StatusCode[status["abort"][0]], status["abort"][1])
                if status != last:
                    last = status
                    yield self._message(status)
                with self.changed:
                    self.changed.wait_for(
                        lambda: not context.is_active() or
                        self.statuses.get(service, SERVICE_UNKNOWN) != last)
        finally:
            with self.changed:
                self.watching -= 1

    def _wake(self):
        with self.changed:
            self.changed.notify_all()

    def set(self, service, status):
        with self.changed:
            self.statuses[service] = status
            self.changed.notify_all()


def serve(options):
    import concurrent.futures

    import grpc
    health = Health(options["statuses"])
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(64), options=[("grpc.so_reuseport", 0)])
    if options["health"]:
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
            "grpc.health.v1.Health", {
                "Check": grpc.unary_unary_rpc_method_handler(health.check),
                **({"Watch": grpc.unary_stream_rpc_method_handler(health.watch)}
                   if options["health"] != "check" else {})}),))
    if options["pair"]:
        certificate, key = (open(path, "rb").read() for path in options["pair"])
        clients = options["clients"] and open(options["clients"], "rb").read()
        port = server.add_secure_port(options["address"], grpc.ssl_server_credentials(
            [(key, certificate)], clients, bool(clients)))
    else:
        port = server.add_insecure_port(options["address"])
    server.start()
    print(json.dumps({"port": port}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        if "set" in command:
            health.set(*command["set"])
        answer = {"calls": health.calls if "calls" in command else None,
                  "watchers": health.watching}
        print(json.dumps(answer), flush=True)
    server.stop(0)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]))
