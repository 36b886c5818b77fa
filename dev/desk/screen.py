"""The events of a conversation as lines for a person: one line each, streamed text run together."""
import json

from .progress import CLEAR, put

BOOKKEEPING = {"seq", "eventId", "version", "aggregateType", "aggregateId", "aggregateVersion", "tenantId", "workspaceId", "conversationId",
               "turnId", "actor", "causationId", "correlationId", "occurredAt", "attempt", "offset", "after"}
SHOWN = {  # what a person wants to know of an event; all others show their payload
    "approval-required": ("capability", "risk", "expiresAt"),
    "tool-call-end": ("status", "output", "error", "latencyMs"),
    "tool-call-start": ("capability", "effect", "risk"),
    "turn-completed": ("usage",),
}
STREAMED = {"text-delta": "text", "reasoning-delta": "text", "tool-call-output": "text", "tool-call-input-delta": "delta"}


class Screen:
    def __init__(self):
        self.streaming = None  # what the text that is now being run together belongs to
        self.at_line_start = True

    def show(self, name, seq, data):
        if name in STREAMED:
            channel = data.get("channel", "")
            return self.stream(f"{name} {channel}".strip(), data.get("text") or data.get(STREAMED[name]) or "")
        self.end_stream()
        label = data.get("type", "fact") if name == "fact" else name
        put(f"{CLEAR}{seq or '·':>6}  {label:<20} {summary(name, data)}".rstrip() + "\n")

    def stream(self, subject, text):
        """Text that arrives in pieces, each line of it behind a margin that tells it from the events."""
        if subject != self.streaming:
            self.end_stream()
            put(f"{CLEAR}{'~':>6}  {subject}\n")
            self.streaming = subject
        for line in text.splitlines(keepends=True):
            put(("          | " if self.at_line_start else "") + line)
            self.at_line_start = line.endswith("\n")

    def end_stream(self):
        if self.streaming and not self.at_line_start:
            put("\n")
        self.streaming, self.at_line_start = None, True

    def quiet(self):
        """Whether a line about waiting would not land in the middle of streamed text."""
        return self.at_line_start


def summary(name, data):
    payload = data.get("payload") if isinstance(data.get("payload"), dict) else data
    merged = {**payload, **{k: v for k, v in data.items() if k not in {"payload", "type"}}}
    keys = SHOWN.get(name) or [k for k in merged if k not in BOOKKEEPING]
    parts = [f"{k}={short(merged[k])}" for k in keys if merged.get(k) not in (None, "", [], {})]
    return cut("  ".join(parts), 150)


def short(value):
    return cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), 90)


def cut(text, limit):
    text = " ".join(text.split())
    return text if len(text) <= limit else text[:limit - 1] + "…"


def title(text):
    put(f"{CLEAR}\n== {text}\n")


def block(text):
    put("".join(f"    {line}\n" for line in str(text).strip().splitlines()))


