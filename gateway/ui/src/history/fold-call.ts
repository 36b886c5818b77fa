/** Facts of a tool call. */
import { inCall, inTurn } from "./change";
import { type Body, shown } from "./facts";
import type { Folds } from "./fold";
import type { Call } from "./model";

const NOTHING = { printed: [], seen: { stdout: 0, stderr: 0 } } satisfies Partial<Call>;

export const callFacts: Folds = {
  "tool_call.requested": (talk, { spec }, fact) =>
    inTurn(talk, fact.turnId, (turn) => {
      const { callId: id, capability, risk, effect, plan: planned } = spec;
      const { value: input, ref: inputRef } = shown(spec.input);
      const call: Call = {
        id,
        capability,
        risk,
        effect,
        input,
        inputRef,
        planned,
        status: "requested",
        attempt: 0,
        ...NOTHING,
      };
      return { ...turn, calls: { ...turn.calls, [id]: call } };
    }),
  "tool_call.held": (talk, { approvalId, rule }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => ({ ...call, status: "held", approvalId, rule })),
    ),
  "tool_call.cleared": (talk, { rule, edited }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => ({
        ...call,
        ...(edited && withInput(call, edited.input)),
        status: "cleared",
        rule,
      })),
    ),
  "tool_call.settled": (talk, settled, fact) =>
    inTurn(talk, fact.turnId, (turn) => inCall(turn, fact.aggregateId, (call) => ({ ...call, settled }))),
  "tool_call.started": (talk, { attempt, at }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => ({
        ...call,
        ...NOTHING,
        status: "started",
        attempt,
        latencyMs: undefined,
        error: undefined,
        startedAt: at,
      })),
    ),
  "tool_call.completed": (talk, { output, record }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => {
        const { value, ref } = shown(output);
        return { ...ended(call, record), output: value, outputRef: ref };
      }),
    ),
  "tool_call.failed": (talk, { error, record }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => ({ ...ended(call, record), error })),
    ),
  "tool_call.cancelled": (talk, { reason, record }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => withReason(ended(call, record), record.errorCode, reason)),
    ),
  "tool_call.in_doubt": (talk, { reason, record }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) => withReason(ended(call, record), record.errorCode, reason)),
    ),
  "tool_call.denied": (talk, { refused, record }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inCall(turn, fact.aggregateId, (call) =>
        withReason(ended(call, record), record.errorCode, refusal(refused)),
      ),
    ),
};

/** Other arguments in place of those that were asked for. */
function withInput({ input, inputRef }: Call, edited: Body): Partial<Call> {
  const { value, ref } = shown(edited);
  return { original: { input, inputRef }, input: value, inputRef: ref };
}

type Record = { status: Call["status"]; attempt: number; latencyMs: number };

function ended(call: Call, { status, attempt, latencyMs }: Record): Call {
  return { ...call, ...NOTHING, status, attempt, latencyMs, error: undefined };
}

function withReason(call: Call, code: string | undefined, message: string): Call {
  return { ...call, error: { code: code ?? call.status, message } };
}

function refusal({ by, reason, note }: { by: string; reason?: string; note?: string }): string {
  if (reason) return reason;
  if (note) return note;
  return by === "expiry" ? "Nobody answered in time." : "A person refused it.";
}
