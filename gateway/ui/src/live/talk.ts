/** Conversations that are followed: their facts, what those fold to, and how the stream stands. */
import { useEffect } from "react";
import { type Connection, follow } from "../api/stream";
import type { Fact, Frame } from "../history/facts";
import { fold, type Seen } from "../history/fold";
import { emptyTalk, type Talk } from "../history/model";
import { Batch } from "./batch";
import { Store, useStore } from "./store";

export interface Followed {
  talk: Talk;
  /** Every fact seen, ascending: the past that a person can look at. */
  facts: Fact[];
  connection: Connection;
  /** Whether the past was read to its end at least once. */
  loaded: boolean;
}

const FRAMES = new Set(["text-delta", "reasoning-delta", "tool-call-input-delta", "tool-call-output"]);
/** While the past is read, the screen changes this often, in milliseconds. */
const CATCHING_UP = 200;
/** Conversations whose past is kept after they were left. */
const KEPT = 8;

export class Follower {
  readonly store: Store<Followed>;
  private readonly batch = new Batch<Seen>((seen) => this.take(seen));
  private stop: (() => void) | undefined;
  private after = 0;
  private viewers = 0;

  constructor(private readonly id: string) {
    this.store = new Store<Followed>(this.nothing());
  }

  /** Follows as long as somebody looks. */
  watch(): () => void {
    this.viewers += 1;
    this.stop ??= follow({
      url: `/v1/conversations/${this.id}/stream?follow=true`,
      rests: true,
      after: () => this.after,
      event: ({ event, data }) => this.event(event ?? "", data),
      connection: (connection) => this.connection(connection),
      gap: () => this.reset(),
    });
    return () => {
      this.viewers -= 1;
      if (this.viewers === 0) this.end();
    };
  }

  end() {
    this.stop?.();
    this.stop = undefined;
    this.batch.flush();
  }

  private nothing(): Followed {
    return { talk: emptyTalk(this.id), facts: [], connection: { state: "connecting" }, loaded: false };
  }

  private event(name: string, data: string) {
    if (name === "caught-up") {
      this.batch.flush();
      this.store.set({ ...this.store.get(), loaded: true });
      return;
    }
    const live = this.store.get().connection.state === "live";
    if (FRAMES.has(name)) {
      this.batch.add({ frame: { ...(JSON.parse(data) as Frame), type: name as Frame["type"] } });
    } else {
      const fact = JSON.parse(data) as Fact;
      if (fact.seq <= this.after) return;
      this.after = fact.seq;
      this.batch.add({ fact }, live ? undefined : CATCHING_UP);
    }
  }

  private take(seen: Seen[]) {
    const before = this.store.get();
    const facts = seen.flatMap((item) => ("fact" in item ? [item.fact] : []));
    this.store.set({
      ...before,
      talk: fold(before.talk, seen),
      facts: facts.length > 0 ? [...before.facts, ...facts] : before.facts,
    });
  }

  private connection(connection: Connection) {
    this.store.set({ ...this.store.get(), connection });
  }

  private reset() {
    this.batch.drop();
    this.after = 0;
    this.store.set(this.nothing());
  }
}

const followers = new Map<string, Follower>();

function follower(id: string): Follower {
  const known = followers.get(id) ?? new Follower(id);
  // The most recent one last.
  followers.delete(id);
  followers.set(id, known);
  const [oldest] = followers.keys();
  if (followers.size > KEPT && oldest) {
    followers.get(oldest)?.end();
    followers.delete(oldest);
  }
  return known;
}

/** Forgets everything: somebody else signs in. */
export function forgetTalks() {
  for (const known of followers.values()) known.end();
  followers.clear();
}

/** Follows a conversation while the component is shown. */
export function useTalk(id: string): Followed {
  const known = followers.get(id) ?? follower(id);
  useEffect(() => follower(id).watch(), [id]);
  return useStore(known.store);
}
