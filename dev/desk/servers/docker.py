"""Docker and the sandbox image: the engine that answers, else Debian's, started here."""
import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from ..cache import CACHE, DEV, ROOT, Failed, apt, locked, run
from ..process import Process
from ..server import Server

# Tried in turn. Inside containers the kernel may refuse layers upon layers, or changes to the firewall; sandboxes without a
# network, the usual ones, need neither.
WAYS_TO_START = [[], ["--storage-driver=vfs"], ["--storage-driver=vfs", "--iptables=false", "--ip6tables=false", "--bridge=none"]]
DAEMON_PID = Path("/var/run/docker.pid")


class Docker(Server):
    """One daemon for all instances. The last one to go down stops it, and only if a stack started it."""
    name, hint = "docker", "let root start Docker and put you into the group docker, or set DOCKER_HOST"
    ports, recipe, users = (), DEV / "sandbox" / "build-image", CACHE / "run" / "docker-users"

    def __init__(self, instance):
        super().__init__(instance)
        self.user, self.daemon = self.users / hashlib.sha256(bytes(self.folder)).hexdigest()[:12], Process(CACHE, "dockerd")

    def processes(self):
        return [self.daemon]

    def given_image(self):
        name = os.environ.get("OXAGEN_SANDBOX_IMAGE", "")
        return None if name.startswith("oxagen-sandbox:") else name  # that is one of ours, maybe of an older recipe

    def env(self):
        image = self.given_image() or run(self.recipe, "--name").strip()
        return {"DOCKER_HOST": "unix:///var/run/docker.sock", "OXAGEN_SANDBOX_IMAGE": image}

    def given(self):
        found = super().given()
        return found and {**self.env(), "DOCKER_HOST": found["DOCKER_HOST"]}

    def check(self):
        run("docker", "version")

    def check_given(self, address):
        self.check()

    def adopt(self, address):
        self.check()
        self.prepare()

    def answers(self):
        return bool(shutil.which("docker")) and not subprocess.run(["docker", "version"], capture_output=True).returncode

    def install(self):
        """The engine, unless one answers, and what the sandbox image is made of, where it can be made."""
        wanted = ([] if self.answers() else [("docker.io", "dockerd")]) + [("debootstrap", "debootstrap"), ("npm", "npm")]
        missing = [package for package, command in wanted if not shutil.which(command)]
        if missing and ROOT and shutil.which("apt-get"):
            apt(*missing)

    def start(self):
        with locked(CACHE / ".dockerd.lock"):
            if not self.daemon.pid():
                self.daemon.pidfile.unlink(missing_ok=True)
                shutil.rmtree(self.users, ignore_errors=True)  # users of a daemon that is gone
                if not self.answers():
                    if not ROOT:
                        raise Failed("docker does not answer this user")
                    self.start_daemon()

    def start_daemon(self):
        for way in WAYS_TO_START:
            forget_dead_daemon()
            self.daemon.start("dockerd", *way)
            until = time.monotonic() + self.patience
            while self.daemon.pid() and time.monotonic() < until:
                if self.answers():
                    return
                time.sleep(0.1)
            self.daemon.stop()
        raise Failed(f"dockerd does not start; read {self.daemon.log}")

    def prepare(self):
        with locked(CACHE / ".dockerd.lock"):
            if self.daemon.pid():
                self.users.mkdir(parents=True, exist_ok=True)
                self.user.touch()
        if not self.given_image():
            self.phase = "builds the sandbox image"
            with locked(CACHE / ".sandbox.lock"):
                run(self.recipe)

    def stop(self):
        with locked(CACHE / ".dockerd.lock"):
            self.user.unlink(missing_ok=True)
            return None if self.users.is_dir() and any(self.users.iterdir()) else self.daemon.stop()


def forget_dead_daemon():
    """A daemon that was killed leaves its pid file, and the next one refuses to start while any process has that pid."""
    with contextlib.suppress(OSError, ValueError):
        pid = int(DAEMON_PID.read_text())
        if Path(f"/proc/{pid}/comm").exists() and Path(f"/proc/{pid}/comm").read_text().strip() == "dockerd":
            return
        DAEMON_PID.unlink()
