"""The product's HTTP interface, as a client sees it."""
import json
import time
import urllib.error
import urllib.request

from .cache import Failed
from .process import direct

LOCAL = ("http://127.0.0.1", "http://localhost", "http://[::1]")


class Api:
    """Requests with a bearer key. A refusal becomes a Failed that carries what the server said."""

    def __init__(self, url, key):
        self.url, self.key = url.rstrip("/"), key

    def open(self, path, body=None, timeout=30, **headers):
        data = None if body is None else json.dumps(body).encode()
        wanted = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **headers}
        request = urllib.request.Request(self.url + path, data=data, headers=wanted)
        opener = direct.open if self.url.startswith(LOCAL) else urllib.request.urlopen
        try:
            return opener(request, timeout=timeout)
        except urllib.error.HTTPError as error:
            said = error.read().decode(errors="replace")[:600]
            raise Refused(error.code, f"{request.get_method()} {path} was answered {error.code}: {said}") from None
        except OSError as error:
            raise Failed(f"{request.get_method()} {self.url}{path}: no answer: {error}") from None

    def call(self, path, body=None):
        with self.open(path, body) as answer:
            return json.loads(answer.read() or b"null")

    def works(self, path):
        try:
            with self.open(path, timeout=5) as answer:
                return answer.status == 200
        except Failed:
            return False


class Refused(Failed):
    """The server answered, with a status of 400 or above."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def follow(api, path, after=0, tries=5):
    """Yields (event name, seq or None, data) of an SSE stream, for ever: when it is cut, it goes on after the last event seen."""
    failures = 0
    while True:
        trouble = "it was closed"
        try:
            with api.open(path, timeout=60, **{"Accept": "text/event-stream", "Last-Event-ID": str(after)}) as stream:
                for name, number, data in events(stream):
                    after, failures = number or after, 0
                    yield name, number, data
        except Refused:
            raise
        except (Failed, OSError) as error:
            trouble = error
        failures += 1
        if failures > tries:
            raise Failed(f"the event stream broke {failures} times without an event in between: {trouble}")
        time.sleep(0.5 * failures)


def events(stream):
    """Parses server-sent events: fields until an empty line, comments ignored."""
    name, number, data = "message", None, []
    for raw in stream:
        line = raw.decode().rstrip("\r\n")
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                yield name, number, json.loads("\n".join(data))
            name, number, data = "message", None, []
        elif field == "event":
            name = value
        elif field == "id" and value.isdigit():
            number = int(value)
        elif field == "data":
            data.append(value)
