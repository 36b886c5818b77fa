"""The commands of `dev/stack`, for an instance and some of its servers. Each returns whether all went well."""
import shutil
import time
from concurrent.futures import ThreadPoolExecutor

from .cache import Failed, last_lines
from .process import Process
from .progress import Waiting, say
from .servers import SERVERS, Docker, Postgres


def servers_of(instance, names=SERVERS):
    return [SERVERS[name](instance) for name in SERVERS if name in names]


def wait_ready(server):
    until = time.monotonic() + server.patience
    while True:
        if ended := [p.label for p in server.processes() if p.died()]:
            raise Failed(f"{', '.join(ended)} ended while starting")
        try:
            return server.check()
        except Exception as error:
            if time.monotonic() > until:
                raise Failed(f"no answer within {server.patience} s: {error}") from None
        time.sleep(0.1)


def start_missing(server):
    stopped = [p.label for p in server.processes() if not p.pid()]
    for key in server.ports:
        if key.partition(".")[0] in stopped:
            server.instance.choose_port(key)
    if stopped:
        server.start()


def bring_up(server):
    begun, given = time.monotonic(), None
    try:
        if given := server.given():
            address = next(iter(given.values()))
            server.adopt(address)
            say(server.name, f"given               {address}")
            return True
        server.phase = "is being installed"
        server.install()
        if time.monotonic() - begun > 2:
            say(server.name, f"installed {time.monotonic() - begun:6.1f} s")
        server.phase = "starts"
        start_missing(server)
        wait_ready(server)
        server.prepare()
        say(server.name, f"ready     {time.monotonic() - begun:6.1f} s  {next(iter(server.env().values()))}")
        return True
    except Exception as error:
        hint = f"check {next(iter(given))}, or unset it to have a server started" if given else server.hint
        logs = [] if given else [p.log for p in server.processes() if p.pidfile.exists() and p.log.exists()]
        ends = "".join(f"\n  end of {log}:\n{last_lines(log.read_text(errors='replace'))}" for log in logs)
        say(server.name, f"FAILED    {time.monotonic() - begun:6.1f} s  {error}{ends}\n  what to do: {hint}")
        return False
    finally:
        server.phase = ""


def up(instance, servers):
    begun = time.monotonic()
    instance.save()
    waited_for = lambda: ", ".join(f"{s.name} {s.phase}" for s in servers if s.phase)
    with Waiting(waited_for), ThreadPoolExecutor(len(servers)) as pool:
        fine = all(list(pool.map(bring_up, servers)))
    keys = {key for server in servers for key in server.env()}
    instance.write_env(keys, {k: v for server in servers for k, v in (server.given() or server.env()).items()})
    say("servers" if fine else "NOT READY", f"{'all ready' if fine else '':<9} {time.monotonic() - begun:6.1f} s  addresses in {instance.env_file}")
    return fine


def install(instance, servers):
    for server in servers:
        begun = time.monotonic()
        if not server.given():
            with Waiting(lambda: f"{server.name} is being installed"):
                server.install()
            say(server.name, f"installed {time.monotonic() - begun:6.1f} s")
    return True


def down(instance, servers):
    with Waiting(lambda: "the servers stop"), ThreadPoolExecutor(len(servers)) as pool:
        for server, stopped in zip(servers, pool.map(lambda s: s.stop(), servers)):
            if stopped:
                say(server.name, "stopped")
    return True


def status(instance, servers):
    fine = True
    for server in servers:
        given, pids = server.given(), [str(p.pid()) for p in server.processes() if p.pid()]
        address = next(iter((given or server.env()).values()))
        try:
            server.check_given(address) if given else server.check()
            state = "given" if given else "ready"
        except Exception:
            fine, state = False, "no answer" if given or pids else "down"
        say(server.name, f"{state:<10} {'' if given or not pids else 'pid ' + ' '.join(pids):<20} {address}")
    return fine


def wipe(instance, servers):
    whole = len(servers) == len(SERVERS)
    if whole:  # also what others started in this instance: it works on the data that goes
        for pidfile in (instance.folder / "run").glob("oxagen*.pid"):
            Process(instance.folder, pidfile.stem).stop()
        Docker(instance).forget(Postgres(instance).cluster())
    down(instance, servers)
    for server in servers:
        server.wipe()
    if whole:
        shutil.rmtree(instance.folder, ignore_errors=True)
    return True


def env(instance, servers):
    if not instance.env_file.exists():
        raise Failed(f"there is no {instance.env_file} yet: `dev/stack up` writes it")
    print(instance.env_file.read_text(), end="")
    return True
