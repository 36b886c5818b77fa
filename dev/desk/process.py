"""Server processes: pid file, log, start and stop."""
import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path


def birth(pid):
    """What tells a process from a later one with the same pid, also after a reboot; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return None if fields[0] in "ZX" else f"{fields[19]} {boot}"
    except (OSError, IndexError):
        return None


def folder_of(process):
    """The folder that a process works in; None when it is gone or not to be seen."""
    with contextlib.suppress(OSError):
        return os.readlink(process / "cwd")


class Process:
    """One server process of an instance."""

    def __init__(self, folder, label):
        self.label, self.log, self.pidfile = label, folder / "logs" / f"{label}.log", folder / "run" / f"{label}.pid"

    def pid(self):
        """The pid, if it is the very process that we started and it is alive."""
        try:
            pid, born = self.pidfile.read_text().strip().split(" ", 1)
            return int(pid) if birth(pid) == born else None
        except (OSError, ValueError):
            return None

    def start(self, *argv, **options):
        for path in (self.log, self.pidfile):
            path.parent.mkdir(parents=True, exist_ok=True)
        if self.log.exists():
            self.log.replace(self.log.with_suffix(".log.1"))
        with open(self.log, "wb") as log:
            started = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                       start_new_session=True, **options)
        self.pidfile.write_text(f"{started.pid} {birth(started.pid)}\n")

    def died(self):
        return self.pidfile.exists() and not self.pid()

    def stop(self, how=signal.SIGTERM):
        pid = self.pid()
        if pid:
            os.kill(pid, how)
            until = time.monotonic() + 30
            while self.pid() and time.monotonic() < until:
                time.sleep(0.05)
            if self.pid():
                os.killpg(pid, signal.SIGKILL)  # it leads its own session, so the group is ours too
        self.pidfile.unlink(missing_ok=True)
        return pid


def listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


# No proxy: one that is set up on the machine must not get what is meant for 127.0.0.1.
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def http(url, data=None):
    return direct.open(url, data=data, timeout=5).read()
