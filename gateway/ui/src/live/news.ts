/**
 * What the workspace's stream has told since its lists were read: laid over them, so that a list is never asked for again.
 * A view may be a moment behind the stream, therefore what was told here wins.
 */
import type { Schema } from "../api/client";
import { CLOSED, type Fact, type Payloads, shown } from "../history/facts";

export type ConversationItem = Schema["ConversationItem"];
export type ApprovalItem = Schema["Approval"] & { inputRef?: string };

export interface News {
  seq: number;
  conversations: Record<string, Partial<ConversationItem>>;
  /** Conversations in which a turn is known to run. */
  running: Record<string, string>;
  asked: Record<string, ApprovalItem>;
  closed: Record<string, true>;
}

export const NO_NEWS: News = { seq: 0, conversations: {}, running: {}, asked: {}, closed: {} };

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
    status: "open",
    requestedBy,
    requestedAt: fact.occurredAt,
    expiresAt: question.expiresAt,
    sequence: fact.seq,
  };
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
    .sort((a, b) => a.expiresAt.localeCompare(b.expiresAt));
}
