/**
 * The one place where facts and live frames become what is shown. Pure, so that a page that was reloaded, one that never
 * left, and any point of the past are the same function of the same facts.
 */

import type { Fact, Frame, Known, Payloads } from "./facts";
import { approvalFacts } from "./fold-approval";
import { callFacts } from "./fold-call";
import { conversationFacts } from "./fold-conversation";
import { foldFrame } from "./fold-frame";
import { planFacts } from "./fold-plan";
import { turnFacts } from "./fold-turn";
import { emptyTalk, type Talk } from "./model";

export type Seen = { fact: Fact } | { frame: Frame };

/** How each type of fact changes what is shown. */
export type Folds<Type extends string = Known> = {
  [K in Type]?: (talk: Talk, payload: K extends Known ? Payloads[K] : unknown, fact: Fact) => Talk;
};

/** A new kind of fact is a module of folds and a line here. */
const FOLDS = { ...conversationFacts, ...turnFacts, ...callFacts, ...approvalFacts, ...planFacts } as Record<
  string,
  ((talk: Talk, payload: unknown, fact: Fact) => Talk) | undefined
>;

/** Takes in one fact; one that was seen before changes nothing, and one of another kind only its place. */
export function foldFact(talk: Talk, fact: Fact): Talk {
  if (fact.seq <= talk.seq) return talk;
  try {
    const next = FOLDS[fact.type]?.(talk, fact.payload, fact) ?? talk;
    return { ...next, seq: fact.seq };
  } catch {
    // One fact of a form from the future must not take the rest with it.
    return { ...talk, seq: fact.seq, unread: talk.unread + 1 };
  }
}

export function fold(talk: Talk, seen: Seen[]): Talk {
  return seen.reduce(
    (talk, item) => ("fact" in item ? foldFact(talk, item.fact) : foldFrame(talk, item.frame)),
    talk,
  );
}

/** The conversation as it was after the first `count` facts. */
export function asOf(id: string, facts: Fact[], count: number): Talk {
  return facts.slice(0, count).reduce(foldFact, emptyTalk(id));
}
