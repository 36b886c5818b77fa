/** Copies along the path of a change, so that what did not change stays the same object. */
import type { Approval, Call, Plan, Step, Talk, Turn } from "./model";

export function inTurn(talk: Talk, id: string | null | undefined, change: (turn: Turn) => Turn): Talk {
  const turn = id ? talk.turns[id] : undefined;
  if (!turn) return talk;
  const next = change(turn);
  return next === turn ? talk : { ...talk, turns: { ...talk.turns, [turn.id]: next } };
}

export function inStep(turn: Turn, number: number, change: (step: Step) => Step): Turn {
  return { ...turn, steps: turn.steps.map((step) => (step.number === number ? change(step) : step)) };
}

export function inCall(turn: Turn, id: string, change: (call: Call) => Call): Turn {
  const call = turn.calls[id];
  return call ? { ...turn, calls: { ...turn.calls, [id]: change(call) } } : turn;
}

export function inApproval(turn: Turn, id: string, change: (approval: Approval) => Approval): Turn {
  const approval = turn.approvals[id];
  return approval ? { ...turn, approvals: { ...turn.approvals, [id]: change(approval) } } : turn;
}

export function inPlan(turn: Turn, id: string, change: (plan: Plan) => Plan): Turn {
  const plan = turn.plans[id];
  return plan ? { ...turn, plans: { ...turn.plans, [id]: change(plan) } } : turn;
}
