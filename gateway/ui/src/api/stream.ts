/**
 * A stream of server-sent events that carries a key in a header, comes back by itself and goes on where it was.
 * It says honestly how it stands, and never asks again while nothing happens.
 */
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { Problem } from "./problem";
import { session } from "./session";

/** How a stream stands. */
export type Connection =
  | { state: "connecting" }
  | { state: "catching-up" }
  | { state: "live" }
  /** Nobody has looked for a while: the line is given up until somebody does. */
  | { state: "resting" }
  | { state: "offline"; why: string }
  | { state: "refused"; problem: Problem };

export interface Follows {
  /** The address, without a place to go on after. */
  url: string;
  /** Whether it rests while nobody looks: a browser has six connections for a server's plain HTTP, for all its tabs. */
  rests?: boolean;
  /** The last fact seen; 0 for the beginning. */
  after(): number;
  event(event: EventSourceMessage): void;
  connection(connection: Connection): void;
  /** The place is in no history any more, or was lost: forget what was seen. */
  gap(): void;
}

/** The server shows a sign of life every 15 seconds; after this silence the line is dead. */
const SILENCE = 40_000;
const FIRST_WAIT = 400;
const LONGEST_WAIT = 8_000;

/** A page that nobody sees for so long rests. */
const UNSEEN = 60_000;

/** Follows until it is told to stop. */
export function follow(to: Follows): () => void {
  const stopped = new AbortController();
  void run(to, stopped.signal);
  return () => stopped.abort();
}

async function run(to: Follows, stopped: AbortSignal) {
  let failures = 0;
  to.connection({ state: "connecting" });
  while (!stopped.aborted) {
    if (to.rests && document.hidden) {
      to.connection({ state: "resting" });
      await looked(stopped);
      continue;
    }
    try {
      await once(to, stopped, () => {
        failures = 0;
      });
      // A proper end without a reason: the server stops, or had nothing more to say.
      failures += 1;
      if (!stopped.aborted) to.connection({ state: "offline", why: "The server closed the stream." });
    } catch (error) {
      if (stopped.aborted) return;
      if (error instanceof Unseen) continue;
      if (error instanceof Problem && error.status === 401) {
        session.signOut("Your key is no longer valid. Sign in with another one.");
        return;
      }
      if (error instanceof Problem && error.status >= 400 && error.status < 500 && error.status !== 429) {
        to.connection({ state: "refused", problem: error });
        return;
      }
      failures += 1;
      if (error instanceof Gap) to.gap();
      const why = error instanceof Problem ? error.message : "The connection was lost.";
      to.connection({ state: "offline", why });
    }
    await pause(Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (failures - 1)), stopped);
  }
}

class Gap extends Error {}
class Unseen extends Error {}

async function once(to: Follows, stopped: AbortSignal, cameThrough: () => void) {
  const line = new AbortController();
  const stop = () => line.abort();
  stopped.addEventListener("abort", stop, { once: true });
  addEventListener("offline", stop, { once: true });
  let silence = setTimeout(stop, SILENCE);
  const rest = to.rests ? whenUnseen(() => line.abort(new Unseen())) : () => {};
  try {
    const response = await fetch(to.url, {
      headers: {
        accept: "text/event-stream",
        authorization: `Bearer ${session.key() ?? ""}`,
        "last-event-id": String(to.after()),
      },
      cache: "no-store",
      signal: line.signal,
    });
    if (!response.ok) throw Problem.of(response.status, await response.json().catch(() => undefined));
    if (!response.body) throw Problem.unreachable();
    to.connection({ state: "catching-up" });
    const parser = createParser({
      onEvent(event) {
        if (event.event === "gap") throw new Gap();
        if (event.event === "error") throw Problem.of(503, JSON.parse(event.data));
        if (event.event === "caught-up") {
          cameThrough();
          to.connection({ state: "live" });
        }
        to.event(event);
      },
    });
    for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE);
      parser.feed(text);
    }
  } finally {
    rest();
    clearTimeout(silence);
    line.abort();
    stopped.removeEventListener("abort", stop);
    removeEventListener("offline", stop);
  }
}

/** Calls when nobody has seen the page for a while; gives what takes that back. */
function whenUnseen(call: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const changed = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(call, UNSEEN);
  };
  changed();
  document.addEventListener("visibilitychange", changed);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", changed);
  };
}

/** Until somebody looks. */
function looked(stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      if (document.hidden && !stopped.aborted) return;
      document.removeEventListener("visibilitychange", done);
      stopped.removeEventListener("abort", done);
      resolve();
    };
    document.addEventListener("visibilitychange", done);
    stopped.addEventListener("abort", done);
  });
}

/** Waits, but not longer than the network is away or somebody looks again. */
function pause(wait: number, stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", looked);
      stopped.removeEventListener("abort", done);
      resolve();
    };
    const looked = () => document.visibilityState === "visible" && done();
    // With jitter, so that a crowd does not come back in step.
    const timer = setTimeout(done, wait * (0.5 + Math.random() / 2));
    addEventListener("online", done);
    document.addEventListener("visibilitychange", looked);
    stopped.addEventListener("abort", done);
  });
}
