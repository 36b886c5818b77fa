"""An instance: a named set of servers with its own data, ports and env file, below .stack."""
import contextlib
import json
import os
import shlex
import threading
import zlib
from pathlib import Path

from .cache import PROJECT
from .process import Process, listening

STACKS = Path(os.environ.get("OXAGEN_STACK_DIR") or PROJECT / ".stack").absolute()
NATS_NODES = ["nats", "nats-2", "nats-3"]
SERVER_PORTS = ["postgres", "clickhouse", "neo4j", *(node + kind for node in NATS_NODES for kind in ("", ".monitor", ".route"))]


def usual_port(instance, key):
    """`dev` has round numbers that a person can remember; any other name has its own block of 16."""
    base = 15400 if instance == "dev" else 15500 + zlib.crc32(instance.encode()) % 600 * 16
    program = {"gateway": 15390 if instance == "dev" else base + 14, "model": 15391 if instance == "dev" else base + 15}
    return program.get(key) or base + SERVER_PORTS.index(key)


class Instance:
    def __init__(self, name):
        self.name, self.folder, self.lock = name, STACKS / name, threading.Lock()
        self.env_file = self.folder / "env"
        self.state = {"ports": {}, "nats_nodes": 1, "own_docker": False}
        with contextlib.suppress(OSError, ValueError):
            self.state |= json.loads((self.folder / "state.json").read_text())

    @staticmethod
    def all():
        return [Instance(path.parent.name) for path in STACKS.glob("*/state.json")]

    def save(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        (STACKS / ".gitignore").write_text("*\n")
        (self.folder / "state.json").write_text(json.dumps(self.state, indent=1))

    def process(self, label):
        return Process(self.folder, label)

    def port(self, key):
        return self.state["ports"].get(key, 0)

    def choose_port(self, key):
        """Kept once chosen, so that addresses outlive restarts; another one if somebody else listens there now."""
        with self.lock:
            taken = {p for k, p in self.state["ports"].items() if k != key}
            wanted = [self.port(key) or usual_port(self.name, key), *range(25500, 28000)]
            self.state["ports"][key] = next(p for p in wanted if p not in taken and not listening(p))
            self.save()
            return self.state["ports"][key]

    def env(self):
        """What the env file says."""
        lines = self.env_file.read_text().splitlines() if self.env_file.exists() else []
        pairs = (line.partition("=") for line in lines if "=" in line)
        return {key: " ".join(shlex.split(value)) for key, _, value in pairs}

    def write_env(self, keys, values):
        """Writes these keys anew, and forgets those that have no value; lines of others stay."""
        kept = {k: v for k, v in self.env().items() if k not in keys}
        text = "".join(f"{k}={shlex.quote(v)}\n" for k, v in sorted((kept | values).items()))
        new = self.env_file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text(text)
        new.replace(self.env_file)
