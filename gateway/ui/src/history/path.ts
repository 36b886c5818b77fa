/** Messages form a graph: editing an earlier one branches. A screen shows one path through it. */
import type { Talk, Turn } from "./model";

/** Which branch a person chose, by the message that the branches follow. */
export type Choices = Record<string, string>;

const ROOT = "root";

export function parentKey(turn: Turn): string {
  return turn.parentId ?? ROOT;
}

/** Turns that follow the same message, as they came. */
export function branches(talk: Talk): Map<string, Turn[]> {
  const found = new Map<string, Turn[]>();
  for (const id of talk.order) {
    const turn = talk.turns[id];
    if (!turn) continue;
    const siblings = found.get(parentKey(turn));
    if (siblings) siblings.push(turn);
    else found.set(parentKey(turn), [turn]);
  }
  return found;
}

/** The turns from the first to the newest of the chosen branches. */
export function path(all: Map<string, Turn[]>, choices: Choices): Turn[] {
  const turns: Turn[] = [];
  let key: string | undefined = ROOT;
  while (key) {
    const options: Turn[] | undefined = all.get(key);
    const chosen: Turn | undefined =
      options?.find((turn) => turn.id === choices[key as string]) ?? options?.at(-1);
    if (!chosen) break;
    turns.push(chosen);
    // A message may also follow a question that was never answered.
    key = all.has(chosen.answerId) ? chosen.answerId : chosen.messageId;
  }
  return turns;
}
