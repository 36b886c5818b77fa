/** Facts of a turn and its steps. */
import { inStep, inTurn } from "./change";
import type { Folds } from "./fold";
import type { Step, Turn } from "./model";

function begin(number: number, attempt: number): Step {
  const nothing = { reasoning: "", text: "", drafts: [], calls: [] };
  return { number, attempt, status: "asking", ...nothing, seen: { reasoning: 0, text: 0 } };
}

/** Another attempt withdraws what the one before has shown. */
function withStep(turn: Turn, step: Step): Turn {
  return { ...turn, steps: [...turn.steps.filter(({ number }) => number !== step.number), step] };
}

export const turnFacts: Folds = {
  "turn.requested": (talk, { spec }, fact) =>
    inTurn(talk, fact.turnId, (turn) => ({
      ...turn,
      model: spec.model,
      agentId: spec.agentId,
      mode: spec.mode ?? "act",
      asked: spec.mode ?? "act",
    })),
  "turn.mode_switched": (talk, { mode }, fact) => inTurn(talk, fact.turnId, (turn) => ({ ...turn, mode })),
  "turn.started": (talk, { at }, fact) =>
    inTurn(talk, fact.turnId, (turn) => ({ ...turn, status: "running", startedAt: at })),
  "turn.taken_over": (talk, _, fact) =>
    inTurn(talk, fact.turnId, (turn) => {
      const asking = turn.steps.find((step) => step.status === "asking");
      return asking ? withStep(turn, begin(asking.number, asking.attempt)) : turn;
    }),
  "turn.step_started": (talk, { step, attempt }, fact) =>
    inTurn(talk, fact.turnId, (turn) => withStep(turn, begin(step, attempt))),
  "turn.step_completed": (talk, { step, attempt, result }, fact) =>
    inTurn(talk, fact.turnId, (turn) => {
      const { text, reasoning = "", model, usage } = result;
      const calls = (result.calls ?? []).map((call) => call.callId);
      return withStep(turn, {
        ...begin(step, attempt),
        status: "answered",
        text,
        reasoning,
        calls,
        model,
        usage,
      });
    }),
  "turn.step_failed": (talk, { step, failure }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inStep(turn, step, (step) => ({ ...begin(step.number, step.attempt), status: "failed", failure })),
    ),
  "turn.paused": (talk, _, fact) => inTurn(talk, fact.turnId, (turn) => ({ ...turn, status: "paused" })),
  "turn.resumed": (talk, _, fact) => inTurn(talk, fact.turnId, (turn) => ({ ...turn, status: "running" })),
  "turn.cancel_requested": (talk, _, fact) =>
    inTurn(talk, fact.turnId, (turn) => ({ ...turn, cancelRequested: true })),
  "turn.completed": (talk, { usage }, fact) =>
    inTurn(talk, fact.turnId, (turn) => end(turn, "completed", fact.occurredAt, { usage })),
  "turn.failed": (talk, { code, message, usage }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      end(turn, "failed", fact.occurredAt, { usage, error: { code, message } }),
    ),
  "turn.cancelled": (talk, { reason, usage }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      end(turn, "cancelled", fact.occurredAt, { usage, error: { code: "cancelled", message: reason } }),
    ),
};

function end(turn: Turn, status: Turn["status"], endedAt: string, more: Partial<Turn>): Turn {
  // A step that was still being written stays as far as it came: the model was cut off there.
  return { ...turn, ...more, status, endedAt };
}
