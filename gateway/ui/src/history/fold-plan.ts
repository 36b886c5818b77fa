/** Facts of a plan. */
import { inPlan, inTurn } from "./change";
import type { Fact } from "./facts";
import type { Folds } from "./fold";
import type { Plan, Talk } from "./model";

export const planFacts: Folds = {
  "plan.proposed": (talk, { spec, steps, expiresAt }, fact) =>
    inTurn(talk, fact.turnId, (turn) => {
      const { planId: id, callId, turnId, title, rationale, terms } = spec;
      const counts = { needed: terms?.needed ?? 1, given: 0, expiresAt };
      const plan: Plan = {
        id,
        callId,
        turnId,
        title,
        rationale,
        version: 1,
        status: "proposed",
        steps,
        uses: {},
        ...counts,
      };
      return { ...turn, plans: { ...turn.plans, [id]: plan } };
    }),
  "plan.amended": (talk, { version, steps, kept, expiresAt, ...said }, fact) =>
    change(talk, fact, (plan) => ({
      ...plan,
      ...words(said),
      version,
      steps,
      before: plan.steps,
      uses: kept,
      expiresAt,
      given: 0,
      status: "proposed",
    })),
  "plan.approved": (talk, said, fact) =>
    change(talk, fact, (plan) => ({ ...plan, ...words(said), status: "approved" })),
  "plan.rejected": (talk, said, fact) =>
    change(talk, fact, (plan) => ({ ...plan, ...words(said), status: "rejected" })),
  "plan.voted": (talk, { given }, fact) => change(talk, fact, (plan) => ({ ...plan, given })),
  "plan.expired": (talk, _, fact) => change(talk, fact, (plan) => ({ ...plan, status: "expired" })),
  "plan.superseded": (talk, _, fact) => change(talk, fact, (plan) => ({ ...plan, status: "superseded" })),
  "plan.step_started": (talk, { stepId, callId }, fact) =>
    change(talk, fact, (plan) => ({
      ...plan,
      uses: { ...plan.uses, [stepId]: { callId, status: "running" } },
    })),
  "plan.step_ended": (talk, { stepId, callId, status }, fact) =>
    change(talk, fact, (plan) => ({ ...plan, uses: { ...plan.uses, [stepId]: { callId, status } } })),
};

function change(talk: Talk, fact: Fact, change: (plan: Plan) => Plan): Talk {
  return inTurn(talk, fact.turnId, (turn) => inPlan(turn, fact.aggregateId, change));
}

function words({ by, at, note }: { by: string; at: string; note?: string }) {
  return { saidBy: by, saidAt: at, note };
}
