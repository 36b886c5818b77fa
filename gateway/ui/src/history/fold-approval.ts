/** Facts of an approval. */
import { inApproval, inTurn } from "./change";
import { CLOSED, type Fact, shown } from "./facts";
import type { Folds } from "./fold";
import type { Talk } from "./model";

export const approvalFacts: Folds = {
  "approval.requested": (talk, { question }, fact) =>
    inTurn(talk, fact.turnId, (turn) => {
      const { approvalId: id, callId, capability, risk, rule, reason, expiresAt } = question;
      const { value: input, ref: inputRef } = shown(question.input);
      const { terms, askedBefore = 0 } = question;
      const counts = { needed: terms?.needed ?? 1, given: 0, askedBefore };
      const times = { requestedAt: fact.occurredAt, expiresAt };
      const approval = { id, callId, capability, input, inputRef, risk, rule, reason, ...counts, ...times };
      return { ...turn, approvals: { ...turn.approvals, [id]: { ...approval, status: "open" } } };
    }),
  "approval.voted": (talk, { given }, fact) =>
    inTurn(talk, fact.turnId, (turn) =>
      inApproval(turn, fact.aggregateId, (approval) => ({ ...approval, given })),
    ),
  "approval.approved": (talk, { edited, ...answer }, fact) =>
    close(talk, fact, { ...answer, edited: edited !== undefined }),
  "approval.denied": (talk, answer, fact) => close(talk, fact, answer),
  "approval.expired": (talk, _, fact) => close(talk, fact),
  "approval.superseded": (talk, _, fact) => close(talk, fact),
};

interface Answer {
  by: string;
  at: string;
  note?: string;
  edited?: boolean;
}

function close(talk: Talk, fact: Fact, answer?: Answer): Talk {
  const status = CLOSED[fact.type] ?? "superseded";
  return inTurn(talk, fact.turnId, (turn) =>
    inApproval(turn, fact.aggregateId, (approval) => ({
      ...approval,
      status,
      resolvedBy: answer?.by,
      resolvedAt: answer?.at ?? fact.occurredAt,
      note: answer?.note,
      edited: answer?.edited,
    })),
  );
}
