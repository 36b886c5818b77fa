/** Facts of an approval. */
import { inApproval, inTurn } from "./change";
import { CLOSED, type Fact, shown } from "./facts";
import type { Folds } from "./fold";
import type { Talk } from "./model";

export const approvalFacts: Folds = {
  "approval.requested": (talk, { question }, fact) =>
    inTurn(talk, fact.turnId, (turn) => {
      const { approvalId: id, callId, capability, risk, rule, expiresAt } = question;
      const { value: input, ref: inputRef } = shown(question.input);
      const requestedAt = fact.occurredAt;
      const approval = { id, callId, capability, input, inputRef, risk, rule, requestedAt, expiresAt };
      return { ...turn, approvals: { ...turn.approvals, [id]: { ...approval, status: "open" } } };
    }),
  "approval.approved": (talk, answer, fact) => close(talk, fact, answer),
  "approval.denied": (talk, answer, fact) => close(talk, fact, answer),
  "approval.expired": (talk, _, fact) => close(talk, fact),
  "approval.superseded": (talk, _, fact) => close(talk, fact),
};

function close(talk: Talk, fact: Fact, answer?: { by: string; at: string; note?: string }): Talk {
  const status = CLOSED[fact.type] ?? "superseded";
  return inTurn(talk, fact.turnId, (turn) =>
    inApproval(turn, fact.aggregateId, (approval) => ({
      ...approval,
      status,
      resolvedBy: answer?.by,
      resolvedAt: answer?.at ?? fact.occurredAt,
      note: answer?.note,
    })),
  );
}
