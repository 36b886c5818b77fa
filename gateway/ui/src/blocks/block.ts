/** What a turn's answer is made of, in the order in which it happened. */
import type { Approval, Call, Draft, Failure, Plan, Step, Turn } from "../history/model";

export type Block =
  | { kind: "reasoning"; key: string; text: string; streaming: boolean }
  | { kind: "text"; key: string; text: string; streaming: boolean }
  | { kind: "draft"; key: string; draft: Draft }
  | { kind: "tool_call"; key: string; call: Call; approval?: Approval }
  | { kind: "approval"; key: string; approval: Approval }
  | { kind: "plan"; key: string; plan: Plan; turn: Turn }
  | { kind: "step_failed"; key: string; step: Step }
  | { kind: "error"; key: string; error: Failure; turn: Turn };

export type BlockOf<K extends Block["kind"]> = Extract<Block, { kind: K }>;

/** The blocks of a turn. */
export function blocksOf(turn: Turn): Block[] {
  const blocks = turn.steps.flatMap((step) => ofStep(turn, step));
  if (turn.error) blocks.push({ kind: "error", key: "error", error: turn.error, turn });
  return blocks;
}

function ofStep(turn: Turn, step: Step): Block[] {
  const blocks: Block[] = [];
  const streaming = step.status === "asking" && turn.status === "running";
  const key = (part: string) => `${step.number}.${part}`;
  const { reasoning, text } = step;
  if (reasoning)
    blocks.push({ kind: "reasoning", key: key("reasoning"), text: reasoning, streaming: streaming && !text });
  if (text) blocks.push({ kind: "text", key: key("text"), text, streaming });
  for (const draft of step.drafts) blocks.push({ kind: "draft", key: draft.callId, draft });
  for (const id of step.calls) {
    const call = turn.calls[id];
    if (!call) continue;
    const approval = call.approvalId ? turn.approvals[call.approvalId] : undefined;
    const plan = planOf(turn, id);
    // A question shows everything that its call would.
    if (plan) blocks.push({ kind: "plan", key: plan.id, plan, turn });
    else if (approval?.status === "open") blocks.push({ kind: "approval", key: approval.id, approval });
    else blocks.push({ kind: "tool_call", key: id, call, approval });
  }
  // Only while it is the last word: the next attempt takes its place.
  if (step.status === "failed" && !turn.error) blocks.push({ kind: "step_failed", key: key("failed"), step });
  return blocks;
}

function planOf(turn: Turn, callId: string): Plan | undefined {
  return Object.values(turn.plans).find((plan) => plan.callId === callId);
}
