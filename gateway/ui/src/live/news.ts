/**
 * What the workspace's stream has told since its lists were read: laid over them, so that a list is never asked for again.
 * A view may be a moment behind the stream, therefore what was told here wins.
 */
import type { Schema } from "../api/client";
import { CLOSED, type Fact, type Payloads, shown } from "../history/facts";
import type { Plan } from "../history/model";

export type ConversationItem = Schema["ConversationItem"];
export type ApprovalItem = Schema["Approval"] & { inputRef?: string };

export type PlanItem = Plan & { conversationId: string; proposedAt: string };

export interface News {
  seq: number;
  conversations: Record<string, Partial<ConversationItem>>;
  /** Conversations in which a turn is known to run. */
  running: Record<string, string>;
  asked: Record<string, ApprovalItem>;
  /** How many people have approved so far. */
  given: Record<string, number>;
  closed: Record<string, true>;
  /** What was told of plans; of one that was proposed before, only what has changed. */
  plans: Record<string, Partial<PlanItem>>;
  /** Calls in doubt, and with `false` those that are so no more. */
  doubts: Record<string, boolean>;
}

export const NO_NEWS: News = {
  seq: 0,
  conversations: {},
  running: {},
  asked: {},
  given: {},
  closed: {},
  plans: {},
  doubts: {},
};

export function foldNews(news: News, fact: Fact): News {
  const next = { ...news, seq: fact.seq };
  const id = fact.conversationId;
  if (fact.type.startsWith("conversation.") && id) {
    return { ...next, conversations: { ...news.conversations, [id]: told(news.conversations[id], fact) } };
  }
  if (fact.type.startsWith("turn.") && id) return { ...next, running: running(news.running, id, fact) };
  if (fact.type === "approval.requested") {
    const item = asked(fact, fact.payload as Payloads["approval.requested"]);
    return { ...next, asked: { ...news.asked, [item.approvalId]: item } };
  }
  if (fact.type === "approval.voted") {
    const { given } = fact.payload as Payloads["approval.voted"];
    return { ...next, given: { ...news.given, [fact.aggregateId]: given } };
  }
  if (fact.type.startsWith("plan.")) {
    const id = fact.aggregateId;
    return { ...next, plans: { ...news.plans, [id]: { ...news.plans[id], ...ofPlan(fact) } } };
  }
  if (fact.type === "tool_call.in_doubt")
    return { ...next, doubts: { ...news.doubts, [fact.aggregateId]: true } };
  // Only the next fact of such a call ends the doubt: its settlement, or the result that came late.
  if (fact.type.startsWith("tool_call.") && isAfterDoubt(fact))
    return { ...next, doubts: { ...news.doubts, [fact.aggregateId]: false } };
  if (CLOSED[fact.type]) return { ...next, closed: { ...news.closed, [fact.aggregateId]: true } };
  return next;
}

function told(known: Partial<ConversationItem> | undefined, fact: Fact): Partial<ConversationItem> {
  const at = fact.occurredAt;
  switch (fact.type) {
    case "conversation.started": {
      const { title } = fact.payload as Payloads["conversation.started"];
      const conversationId = fact.conversationId ?? fact.aggregateId;
      return { conversationId, title, archived: false, createdAt: at, updatedAt: at };
    }
    case "conversation.renamed":
      return { ...known, title: (fact.payload as Payloads["conversation.renamed"]).title, updatedAt: at };
    case "conversation.archived":
      return { ...known, archived: true, updatedAt: at };
    default:
      return { ...known, updatedAt: at };
  }
}

const ENDS = ["turn.completed", "turn.failed", "turn.cancelled", "turn.paused"];

function running(known: Record<string, string>, id: string, fact: Fact): Record<string, string> {
  if (!ENDS.includes(fact.type)) return known[id] ? known : { ...known, [id]: fact.turnId ?? "" };
  const { [id]: _, ...others } = known;
  return others;
}

function asked(fact: Fact, { question }: Payloads["approval.requested"]): ApprovalItem {
  const { value: input, ref: inputRef } = shown(question.input);
  const more = fact.payload as {
    question: { executionStepId: string; inputDigest: string; requestedBy: string };
  };
  const { executionStepId, inputDigest, requestedBy } = more.question;
  const { terms, reason, askedBefore = 0 } = question;
  return {
    approvalId: question.approvalId,
    callId: question.callId,
    executionStepId,
    conversationId: fact.conversationId ?? undefined,
    turnId: fact.turnId ?? undefined,
    capability: question.capability,
    input,
    inputRef,
    inputDigest,
    risk: question.risk,
    policyRule: question.rule,
    reason,
    needed: terms?.needed ?? 1,
    given: 0,
    askedBefore,
    status: "open",
    requestedBy,
    requestedAt: fact.occurredAt,
    expiresAt: question.expiresAt,
    sequence: fact.seq,
  };
}

function isAfterDoubt({ type }: Fact): boolean {
  return type === "tool_call.settled" || type === "tool_call.completed" || type === "tool_call.failed";
}

function ofPlan(fact: Fact): Partial<PlanItem> {
  switch (fact.type) {
    case "plan.proposed": {
      const { spec, steps, expiresAt } = fact.payload as Payloads["plan.proposed"];
      const { planId: id, callId, turnId, title, rationale, terms } = spec;
      const counts = { needed: terms?.needed ?? 1, given: 0, expiresAt };
      const conversationId = fact.conversationId ?? "";
      const own = { id, callId, turnId, conversationId, title, rationale, steps, ...counts };
      return { ...own, version: 1, uses: {}, status: "proposed", proposedAt: fact.occurredAt };
    }
    case "plan.amended": {
      const { version, steps, kept, expiresAt, by, at, note } = fact.payload as Payloads["plan.amended"];
      return {
        version,
        steps,
        uses: kept,
        given: 0,
        expiresAt,
        status: "proposed",
        saidBy: by,
        saidAt: at,
        note,
      };
    }
    case "plan.voted":
      return { given: (fact.payload as Payloads["plan.voted"]).given };
    case "plan.expired":
      return { status: "expired" };
    case "plan.approved":
      return { status: "approved" };
    case "plan.rejected":
      return { status: "rejected" };
    case "plan.superseded":
      return { status: "superseded" };
    default:
      return {};
  }
}

/** A list of conversations with the news over it: the one in which something happened last comes first. */
export function withNews(items: ConversationItem[], news: News): ConversationItem[] {
  const all = new Map(items.map((item) => [item.conversationId, item]));
  for (const [id, change] of Object.entries(news.conversations)) {
    const known = all.get(id);
    // Of one that is on no page yet only a part may be known.
    if (known) all.set(id, { ...known, ...change });
    else if (change.title !== undefined && change.createdAt !== undefined)
      all.set(id, change as ConversationItem);
  }
  return [...all.values()].sort((a, b) => b.updatedAt.localeCompare(a.updatedAt));
}

/** The open approvals with the news over them, soonest expiry first. */
export function openApprovals(items: ApprovalItem[], news: News): ApprovalItem[] {
  const all = new Map([...items, ...Object.values(news.asked)].map((item) => [item.approvalId, item]));
  return [...all.values()]
    .filter((item) => item.status === "open" && !news.closed[item.approvalId])
    .map((item) => ({ ...item, given: news.given[item.approvalId] ?? item.given }))
    .sort((a, b) => a.expiresAt.localeCompare(b.expiresAt));
}

/** The plans that want an answer with the news over them, those that wait longest first. */
export function openPlans(items: Schema["Plan"][], news: News): PlanItem[] {
  const all = new Map(items.map((item) => [item.planId, planItem(item)]));
  for (const [id, change] of Object.entries(news.plans)) {
    const known = all.get(id);
    if (known) all.set(id, { ...known, ...change });
    else if (change.title !== undefined) all.set(id, change as PlanItem);
  }
  return [...all.values()]
    .filter((plan) => plan.status === "proposed")
    .sort((a, b) => a.proposedAt.localeCompare(b.proposedAt));
}

function planItem(plan: Schema["Plan"]): PlanItem {
  const { planId: id, resolvedBy: saidBy, resolvedAt: saidAt, steps, ...rest } = plan;
  const begun = steps.flatMap(({ id, callId, status }) => (callId ? [[id, { callId, status }]] : []));
  return {
    ...rest,
    id,
    saidBy,
    saidAt,
    steps: steps.map(({ status: _, callId: __, ...step }) => step),
    uses: Object.fromEntries(begun) as PlanItem["uses"],
  };
}

/** Calls in doubt with the news over them; of those that were told, only who they are. */
export function openDoubts(
  items: Schema["ToolCall"][],
  news: News,
): { callId: string; row?: Schema["ToolCall"] }[] {
  const read = items.filter((row) => news.doubts[row.callId] !== false);
  const known = new Set(read.map((row) => row.callId));
  const told = Object.keys(news.doubts).filter((id) => news.doubts[id] && !known.has(id));
  return [...read.map((row) => ({ callId: row.callId, row })), ...told.map((callId) => ({ callId }))];
}
