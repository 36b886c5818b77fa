"""What the kinds of server have in common."""
import os
import shutil
import socket
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from .instance import Instance
from .process import Process


class Server:
    """A kind of server, of one instance. Each kind also has env(), install(), start() and check()."""
    name, patience, hint = "", 300, "read the log above; `dev/stack wipe` and `dev/stack up` start from nothing"
    ports = property(lambda self: [self.name])

    def __init__(self, instance):
        self.instance, self.folder, self.phase = instance, instance.folder / self.name, ""

    def processes(self):
        return [self.instance.process(self.name)]

    def given(self):
        """The server's lines as the environment has them, if they name one that is not a stack's of this project."""
        key = next(iter(self.env()))
        ours = {type(self)(instance).env()[key] for instance in Instance.all()} | {self.env()[key]}
        if os.environ.get(key, "") not in {"", *ours}:
            return {k: os.environ[k] for k in self.env() if k in os.environ}

    def check_given(self, address):
        for url in map(urlsplit, address.split(",")):
            usual = {"postgres": 5432, "postgresql": 5432, "nats": 4222, "http": 80, "https": 443}.get(url.scheme, 7687)
            socket.create_connection((url.hostname, url.port or usual), timeout=5).close()

    adopt = check_given  # what `up` does with a server that is given

    def prepare(self):
        """What a new data folder needs once the server answers. Runs at every `up`, so it must be able to run again."""

    def stop(self):
        with ThreadPoolExecutor(3) as pool:
            return any(list(pool.map(Process.stop, self.processes())))

    def wipe(self):
        shutil.rmtree(self.folder, ignore_errors=True)
