"""Docker and the sandbox image: the engine that answers, else Debian's, started here."""
import contextlib
import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path

from ..cache import CACHE, DEV, ROOT, Failed, apt, locked, run
from ..process import Process, birth
from ..server import Server

# Tried in turn. Inside containers the kernel may refuse layers upon layers, or changes to the firewall; sandboxes without a
# network, the usual ones, need neither.
WAYS_TO_START = [[], ["--storage-driver=vfs"], ["--storage-driver=vfs", "--iptables=false", "--ip6tables=false", "--bridge=none"]]
SHARED = Path("/var/run")
LABEL = "oxagen.installation"  # whose container it is: `<the Postgres cluster's identifier>/<database>`


class Docker(Server):
    """One daemon for all instances. The last one to go down stops it, and only if a stack started it.

    An instance may have one of its own instead, whose daemon may be killed without disturbing anybody: `--own-docker`.
    """
    name, patience, hint = "docker", 120, "let root start Docker and put you into the group docker, or set DOCKER_HOST"
    ports, recipe, users = (), DEV / "sandbox" / "build-image", CACHE / "run" / "docker-users"

    def __init__(self, instance):
        super().__init__(instance)
        self.user = self.users / hashlib.sha256(bytes(self.folder)).hexdigest()[:12]
        self.own = instance.state["own_docker"] and ROOT
        self.at = self.folder if self.own else SHARED
        self.host = f"unix://{self.at}/docker.sock"
        self.daemon = instance.process("dockerd") if self.own else Process(CACHE, "dockerd")
        self.lock = (self.folder if self.own else CACHE) / ".dockerd.lock"

    def processes(self):
        return [self.daemon]

    def given_image(self):
        name = os.environ.get("OXAGEN_SANDBOX_IMAGE", "")
        return None if name.startswith("oxagen-sandbox:") else name  # that is one of ours, maybe of an older recipe

    def env(self):
        image = self.given_image() or run(self.recipe, "--name").strip()
        return {"DOCKER_HOST": self.host, "OXAGEN_SANDBOX_IMAGE": image}

    def given(self):
        found = os.environ.get("DOCKER_HOST") != f"unix://{SHARED}/docker.sock" and super().given()
        return found and {**self.env(), "DOCKER_HOST": found["DOCKER_HOST"]}

    def client(self):
        """The environment in which `docker` speaks to this daemon."""
        return {**os.environ, "DOCKER_HOST": self.host} if self.own else os.environ

    def check(self):
        run("docker", "version", env=self.client())

    def check_given(self, address):
        self.check()

    def adopt(self, address):
        self.check()
        self.prepare()

    def answers(self):
        quiet = {"capture_output": True, "env": self.client()}
        return bool(shutil.which("docker")) and not subprocess.run(["docker", "version"], **quiet).returncode

    def install(self):
        """The engine, unless one answers, and what the sandbox image is made of, where it can be made."""
        there = not self.own and self.answers()
        wanted = ([] if there else [("docker.io", "dockerd")]) + [("debootstrap", "debootstrap"), ("npm", "npm")]
        missing = [package for package, command in wanted if not shutil.which(command)]
        if missing and ROOT and shutil.which("apt-get"):
            apt(*missing)

    def start(self):
        with locked(self.lock):
            if not self.daemon.pid():
                self.daemon.pidfile.unlink(missing_ok=True)
                if not self.own:
                    shutil.rmtree(self.users, ignore_errors=True)  # users of a daemon that is gone
                if not self.answers():
                    if not ROOT:
                        raise Failed("docker does not answer this user")
                    self.start_daemon()

    def start_daemon(self):
        # In a network of its own: two daemons in one would quarrel about its bridge and its firewall.
        own = ["unshare", "--net", "--"] if self.own else []
        places = {"--host": self.host, "--data-root": self.folder / "data", "--exec-root": self.at / "exec",
                  "--pidfile": self.at / "docker.pid"} if self.own else {}
        for way in WAYS_TO_START:
            self.forget_dead()
            self.daemon.start(*own, "dockerd", *(f"{k}={v}" for k, v in places.items()), *way)
            until = time.monotonic() + self.patience
            while self.daemon.pid() and time.monotonic() < until:
                if self.answers():
                    return
                time.sleep(0.1)
            self.daemon.stop()
        raise Failed(f"dockerd does not start; read {self.daemon.log}")

    def forget_dead(self):
        """A daemon that was killed leaves its pid file and that of its containerd, which dies with it. Where nothing reaps
        dead processes (as in many containers) the next daemon takes both for alive: it refuses to start for the one and
        waits in vain for the other, and what is tried after that is a daemon without images, then one without a bridge."""
        supervised = self.at / ("exec" if self.own else "docker") / "containerd"
        for name, file in (("dockerd", self.at / "docker.pid"), ("containerd", supervised / "containerd.pid")):
            with contextlib.suppress(OSError, ValueError):
                pid = int(file.read_text())
                # The pid may be somebody else's by now.
                if not birth(pid) or Path(f"/proc/{pid}/comm").read_text().strip() != name:
                    file.unlink()

    def prepare(self):
        with locked(self.lock):
            if self.own:
                self.user.unlink(missing_ok=True)
            elif self.daemon.pid():
                self.users.mkdir(parents=True, exist_ok=True)
                self.user.touch()
        if not self.given_image():
            self.phase = "builds the sandbox image"
            with locked(CACHE / ".sandbox.lock"):
                self.copy_image()
                run(self.recipe, env=self.client())

    def copy_image(self):
        """From the shared daemon, if it has the image and this one has not: building takes ten times as long."""
        image, ask = self.env()["OXAGEN_SANDBOX_IMAGE"], ("docker", "image", "inspect")
        has = lambda env: not subprocess.run([*ask, image], capture_output=True, env=env).returncode
        shared = {**os.environ, "DOCKER_HOST": f"unix://{SHARED}/docker.sock"}
        if self.own and not has(self.client()) and has(shared):
            saved = subprocess.Popen(["docker", "save", image], stdout=subprocess.PIPE, env=shared)
            run("docker", "load", env=self.client(), stdin=saved.stdout)
            saved.wait()

    def forget(self, cluster):
        """Removes the sandbox containers of every database of this Postgres cluster."""
        asked = ("docker", "ps", "--all", "--filter", f"label={LABEL}", "--format", f'{{{{.ID}}}} {{{{.Label "{LABEL}"}}}}')
        if cluster and self.answers():
            listed = [line.split() for line in run(*asked, env=self.client()).splitlines()]
            gone = [pair[0] for pair in listed if pair[1].startswith(f"{cluster}/")]
            if gone:
                run("docker", "rm", "--force", "--volumes", *gone, env=self.client())

    def stop(self):
        with locked(self.lock) if self.lock.parent.exists() else contextlib.nullcontext():
            if self.own:
                return self.daemon.stop()
            self.user.unlink(missing_ok=True)
            return None if self.users.is_dir() and any(self.users.iterdir()) else self.daemon.stop()

    def wipe(self):
        """A daemon that was killed leaves its mounts."""
        mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()]
        for mount in sorted((m for m in mounts if Path(m).is_relative_to(self.folder)), reverse=True):
            subprocess.run(["umount", "--lazy", mount], capture_output=True)
        super().wipe()
