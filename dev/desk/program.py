"""Oxagen itself, beside an instance's servers: built, migrated, started with every role, and a workspace to begin with."""
import hashlib
import json
import os
import shutil
import subprocess
import time

from . import stack
from .api import Api
from .cache import PROJECT, Failed, last_lines, locked, run
from .instance import STACKS, Instance
from .process import http
from .progress import Waiting, say

ROLES = ["gateway", "relay", "reactor", "runner", "projector-postgres", "projector-clickhouse", "projector-neo4j"]
IDENTITY = ["OXAGEN_API_KEY", "OXAGEN_TENANT_ID", "OXAGEN_WORKSPACE_ID"]
MODEL = {"OXAGEN_MODEL_URL": "", "OXAGEN_MODEL_API_KEY": "scripted", "OXAGEN_MODEL": "scripted"}
WRITTEN = ["OXAGEN_URL", *IDENTITY, *MODEL]  # our lines of the env file; the others are the servers'
NOT_FOR_THE_PROGRAM = {"OXAGEN_URL", *IDENTITY, "OXAGEN_CACHE", "OXAGEN_STACK_DIR"}
HEARD = ("OXAGEN_", "DATABASE_", "NATS_", "CLICKHOUSE_", "NEO4J_", "DOCKER_", "RUST_")  # what the program reads
PATIENCE = 300  # seconds until every role must be ready; the first start makes streams, tables and the container pool


def gateway_url(instance):
    return f"http://127.0.0.1:{instance.port('gateway')}"


def model_url(instance):
    return f"http://127.0.0.1:{instance.port('model')}/v1"


def given_address(key, ours):
    """What the environment names, unless an instance of this project wrote it, as into a shell that sourced its env file."""
    named = os.environ.get(key, "")
    return named if named not in {"", *map(ours, Instance.all())} else ""


def changing(name):
    """The lock under which an instance is started or stopped; `dev/stack` takes the same."""
    return locked(STACKS / f"{name}.lock")


class Program:
    """Oxagen and its model provider, of one instance. What the environment names is used and not started."""

    def __init__(self, instance):
        self.instance = instance
        self.node, self.model = instance.process("oxagen"), instance.process("oxagen-scripted-model")
        self.target = PROJECT / (os.environ.get("CARGO_TARGET_DIR") or "target") / "debug"
        self.url = given_address("OXAGEN_URL", gateway_url)
        self.given_model = given_address("OXAGEN_MODEL_URL", model_url)

    def up(self):
        """Everything runs when this returns; what ran already, unchanged, is left alone."""
        begun = time.monotonic()
        before = self.instance.env()
        if not stack.up(self.instance, stack.servers_of(self.instance)):
            raise Failed("not every server is there; see above")
        if not self.url:
            self.build()
            self.start_model()
            self.start_node()
        else:
            say("oxagen", f"given               {self.url}")
        url = self.url or gateway_url(self.instance)
        lines = {"OXAGEN_URL": url, **self.model_settings(), **self.identity(url, before)}
        self.instance.write_env(WRITTEN, lines)
        say("all ready", f"          {time.monotonic() - begun:6.1f} s  {url}, everything to source in {self.instance.env_file}")
        say("the page", f"          {page_url(lines)}")

    def down(self):
        with Waiting(lambda: "Oxagen stops"):
            for process in (self.node, self.model):
                if process.stop():
                    say("oxagen" if process is self.node else "model", "stopped")

    def build(self):
        build_page()
        say("cargo", "builds oxagen and oxagen-scripted-model, as far as something changed")
        # The whole workspace, as the tests build it, so that both use the same artefacts.
        if subprocess.run(["cargo", "build", "--workspace", "--bins"], cwd=PROJECT).returncode:
            raise Failed("the build failed; see above")

    def model_settings(self):
        settings = {key: os.environ.get(key) or usual for key, usual in MODEL.items()}
        return settings | {"OXAGEN_MODEL_URL": self.given_model or model_url(self.instance)}

    def settings(self):
        """The program's environment: the servers' addresses and the model; what is set outside wins, as it did for those."""
        outside = {k: v for k, v in os.environ.items() if k not in NOT_FOR_THE_PROGRAM}
        servers = {k: v for k, v in self.instance.env().items() if k not in WRITTEN}
        listen = {"OXAGEN_LISTEN": f"127.0.0.1:{self.instance.port('gateway')}"}
        return outside | servers | self.model_settings() | listen

    def start_model(self):
        if self.given_model:
            self.model.stop()
            return say("model", f"given               {self.given_model}")
        binary = self.target / "oxagen-scripted-model"
        if self.changed(self.model, binary, {}):
            self.model.stop()
            port = self.instance.choose_port("model")
            self.model.start(binary, "--listen", f"127.0.0.1:{port}")
            self.remember(self.model, binary, {})
        self.wait(self.model, "model", lambda: http(model_url(self.instance).removesuffix("/v1") + "/__requests"))

    def start_node(self):
        binary = self.target / "oxagen"
        if self.changed(self.node, binary, self.settings()):
            self.node.stop()
            self.instance.choose_port("gateway")
            settings = self.settings()
            with Waiting(lambda: "migrations run"):
                run(binary, "migrate", env=settings, cwd=PROJECT)
            self.node.start(binary, "serve", *ROLES, env=settings)
            self.remember(self.node, binary, settings)
        self.wait(self.node, "oxagen", lambda: http(gateway_url(self.instance) + "/readyz"))

    def changed(self, process, binary, settings):
        """Whether the process must be started anew: it does not run, or runs another build or with other settings."""
        return not process.pid() or self.instance.state.get(process.label) != fingerprint(binary, settings)

    def remember(self, process, binary, settings):
        self.instance.state[process.label] = fingerprint(binary, settings)
        self.instance.save()

    def wait(self, process, subject, check):
        begun, trouble = time.monotonic(), None
        with Waiting(lambda: f"{subject} starts; log: {process.log}"):
            while time.monotonic() - begun < PATIENCE and not process.died():
                try:
                    check()
                    return say(subject, f"ready     {time.monotonic() - begun:6.1f} s  pid {process.pid()}, log {process.log}")
                except OSError as error:
                    trouble = error
                    time.sleep(0.1)
        what = "ended while starting" if process.died() else f"is not ready after {PATIENCE} s ({trouble})"
        raise Failed(f"{process.label} {what}; end of {process.log}:\n{last_lines(process.log.read_text(errors='replace'))}")

    def identity(self, url, before):
        """The key in the environment, else the one that an earlier `up` got and that still opens the door, else a new one."""
        ours = {instance.env().get("OXAGEN_API_KEY") for instance in Instance.all()}
        key = os.environ.get("OXAGEN_API_KEY", "")
        if key and key not in ours:
            me = Api(url, key).call("/v1/me")
            return {"OXAGEN_API_KEY": key, "OXAGEN_TENANT_ID": os.environ.get("OXAGEN_TENANT_ID") or me["tenantId"],
                    "OXAGEN_WORKSPACE_ID": os.environ.get("OXAGEN_WORKSPACE_ID") or me["workspaceId"]}
        kept = {name: before.get(name, "") for name in IDENTITY}
        if all(kept.values()) and Api(url, kept["OXAGEN_API_KEY"]).works("/v1/me"):
            return kept
        if self.url:
            raise Failed(f"OXAGEN_URL names {url}, so OXAGEN_API_KEY must hold a key that it accepts")
        made = json.loads(run(self.target / "oxagen", "workspace", "create", "--quick-start", "--json", env=self.settings()))
        say("workspace", f"made                {made['workspaceId']}")
        return dict(zip(IDENTITY, (made["apiKey"], made["tenantId"], made["workspaceId"])))


def page_url(env):
    """The chat page, with the key handed over once: the page keeps it and takes it out of the address."""
    return f"{env['OXAGEN_URL']}/#key={env['OXAGEN_API_KEY']}"


def build_page():
    """Builds the chat page when something of it is newer than what was built last."""
    page = PROJECT / "gateway" / "ui"
    built = page / "dist" / "index.html"
    sources = [page / "package-lock.json", page / "index.html", *page.glob("src/**/*")]
    if built.exists() and max(path.stat().st_mtime for path in sources) < built.stat().st_mtime:
        return
    if not shutil.which("npm"):
        return say("page", "not built: npm is missing")
    say("npm", "builds the chat page")
    if subprocess.run(["make", "--silent", "page"], cwd=PROJECT).returncode:
        raise Failed("the chat page could not be built; see above")


def fingerprint(binary, settings):
    """Tells one build with one set of settings from another."""
    stat = binary.stat()
    heard = {k: v for k, v in settings.items() if k.startswith(HEARD)}
    build = [str(binary), stat.st_ino, stat.st_mtime_ns]
    return hashlib.sha256(json.dumps([build, heard], sort_keys=True).encode()).hexdigest()
