"""What a person sees while something takes its time."""
import contextlib
import os
import threading
import time

TERMINAL = os.isatty(1)
CLEAR = "\r\033[K" if TERMINAL else ""


def say(subject, text):
    put(f"{CLEAR}{subject:<11}{text}\n")


def put(text):
    with contextlib.suppress(BrokenPipeError):
        os.write(1, text.encode())  # one write, so that lines of several threads do not mix


class Waiting:
    """Says what is waited for, from the second second on: on a terminal in one line that changes, else every ten seconds.

    `what()` gives the text, or nothing when there is nothing to say. `restart()` begins to count anew.
    """

    def __init__(self, what):
        self.what, self.ended = what, threading.Event()
        self.thread = threading.Thread(target=self.tell, daemon=True)
        self.restart()

    def restart(self):
        self.begun = self.told = time.monotonic()

    def tell(self):
        while not self.ended.wait(0.5):
            now, text = time.monotonic(), self.what()
            due = now - self.begun > 2 and (TERMINAL or self.told == self.begun or now - self.told > 10)
            if text and due and not self.ended.is_set():
                self.told = now
                line = f"waiting    {now - self.begun:6.0f} s  {text}"
                put(f"{CLEAR}{line[:78]}" if TERMINAL else f"{line}\n")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        put(CLEAR)
