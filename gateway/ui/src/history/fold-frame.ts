/** Live frames: each byte once, and only for the attempt that is under way. */
import { inCall, inStep, inTurn } from "./change";
import type { Frame } from "./facts";
import type { Draft, Printed, Step, Talk, Turn } from "./model";

const bytes = new TextEncoder();
const text = new TextDecoder();

/** The part of a piece that was not seen yet, and how much is seen after it. */
export function unseen(frame: Frame, seen: number): { text: string; seen: number } {
  const piece = bytes.encode(frame.text);
  const end = frame.offset + piece.length;
  if (end <= seen) return { text: "", seen };
  if (frame.offset >= seen) {
    // What lies between was lost; the fact brings it whole.
    const hole = frame.offset > seen ? "…" : "";
    return { text: hole + frame.text, seen: end };
  }
  return { text: text.decode(piece.subarray(seen - frame.offset)), seen: end };
}

export function foldFrame(talk: Talk, frame: Frame): Talk {
  return inTurn(talk, frame.turnId, (turn) => {
    if (frame.type === "tool-call-output") return printed(turn, frame);
    const step = turn.steps.find(({ number }) => number === frame.step);
    if (step?.status !== "asking" || step.attempt !== frame.attempt) return turn;
    return inStep(turn, frame.step, (step) => written(step, frame));
  });
}

function written(step: Step, frame: Frame): Step {
  if (frame.type === "tool-call-input-delta") return drafted(step, frame);
  const sort = frame.type === "text-delta" ? "text" : "reasoning";
  const piece = unseen(frame, step.seen[sort]);
  return { ...step, [sort]: step[sort] + piece.text, seen: { ...step.seen, [sort]: piece.seen } };
}

function drafted(step: Step, frame: Frame): Step {
  if (!frame.callId) return step;
  const callId = frame.callId;
  const before = step.drafts.find((draft) => draft.callId === callId);
  const piece = unseen(frame, before?.seen ?? 0);
  const draft: Draft = { callId, text: (before?.text ?? "") + piece.text, seen: piece.seen };
  const others = step.drafts.filter((draft) => draft.callId !== callId);
  return { ...step, drafts: [...others, draft] };
}

/** What a screen keeps of a running tool's output; the result has it whole. */
const KEPT = 64 * 1024;

function printed(turn: Turn, frame: Frame): Turn {
  const call = frame.callId ? turn.calls[frame.callId] : undefined;
  if (call?.status !== "started") return turn;
  const channel = frame.channel ?? "stdout";
  const piece = unseen(frame, call.seen[channel]);
  if (!piece.text) return turn;
  return inCall(turn, call.id, (call) => ({
    ...call,
    printed: append(call.printed, { channel, text: piece.text }),
    seen: { ...call.seen, [channel]: piece.seen },
  }));
}

function append(all: Printed[], piece: Printed): Printed[] {
  const last = all.at(-1);
  if (last?.channel !== piece.channel) return [...all, piece];
  return [...all.slice(0, -1), { ...last, text: (last.text + piece.text).slice(-KEPT) }];
}
