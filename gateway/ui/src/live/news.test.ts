import { describe, expect, it } from "vitest";
import type { Fact } from "../history/facts";
import {
  type ApprovalItem,
  type ConversationItem,
  foldNews,
  NO_NEWS,
  openApprovals,
  openDoubts,
  openPlans,
  withNews,
} from "./news";

const AT = "2026-11-29T10:00:00Z";

function fact(seq: number, type: string, payload: unknown, more: Partial<Fact> = {}): Fact {
  const at = `2026-11-29T10:00:${String(seq).padStart(2, "0")}Z`;
  const nothing = { version: 1, eventId: "e", aggregateVersion: 1, tenantId: "t", workspaceId: "w" };
  const causes = { causationId: "c", correlationId: "c", actor: { kind: "user", id: "u" } };
  const own = { seq, type, payload, occurredAt: at, aggregateType: type.split(".")[0], aggregateId: "a" };
  return { ...nothing, ...causes, ...own, conversationId: "c1", ...more } as Fact;
}

const row = (id: string, title: string): ConversationItem => ({
  conversationId: id,
  title,
  archived: false,
  createdAt: AT,
  updatedAt: AT,
});

const told = (...facts: Fact[]) => facts.reduce(foldNews, NO_NEWS);

describe("conversations", () => {
  it("lays what was told over what was read, the newest first", () => {
    const news = told(
      fact(1, "conversation.renamed", { title: "New name" }),
      fact(2, "conversation.started", { title: "Another" }, { conversationId: "c2" }),
    );
    expect(withNews([row("c0", "Old"), row("c1", "Name")], news).map((item) => item.title)).toEqual([
      "Another",
      "New name",
      "Old",
    ]);
  });

  it("shows nothing of a conversation that is on no page yet and of which only a part was told", () => {
    expect(withNews([], told(fact(1, "conversation.renamed", { title: "Somewhere" })))).toEqual([]);
  });

  it("knows which run, as far as it was told", () => {
    const running = told(fact(1, "turn.started", {}, { turnId: "t1" }));
    expect(running.running).toEqual({ c1: "t1" });
    expect(foldNews(running, fact(2, "turn.completed", {}, { turnId: "t1" })).running).toEqual({});
  });
});

describe("approvals", () => {
  const asked = (id: string, expiresAt: string) => {
    const question = {
      approvalId: id,
      callId: "k",
      capability: "x",
      input: { inline: {} },
      risk: "high",
      rule: "r",
    };
    return { question: { ...question, expiresAt } };
  };

  it("adds what is asked, drops what is answered, soonest expiry first", () => {
    const read = [{ approvalId: "p1", status: "open", expiresAt: "2026-11-29T12:00:00Z" } as ApprovalItem];
    const news = told(
      fact(1, "approval.requested", asked("p2", "2026-11-29T11:00:00Z")),
      fact(2, "approval.requested", asked("p3", "2026-11-29T13:00:00Z")),
      fact(3, "approval.denied", {}, { aggregateId: "p3" }),
    );
    expect(openApprovals(read, news).map((item) => item.approvalId)).toEqual(["p2", "p1"]);
    expect(
      openApprovals(read, foldNews(news, fact(4, "approval.expired", {}, { aggregateId: "p1" }))),
    ).toHaveLength(1);
  });
});

describe("plans", () => {
  const steps = [{ id: "a", summary: "Do it.", status: "pending" as const }];
  const row = (planId: string) => ({
    ...{ planId, conversationId: "c1", turnId: "t", callId: "k", title: "Read", version: 1 },
    ...{ status: "proposed" as const, steps, requestedBy: "u", proposedAt: AT, needed: 1, given: 0 },
  });
  const spec = { planId: "p2", callId: "k", turnId: "t", title: "Told" };

  it("adds what is proposed, follows its versions, and drops what is answered", () => {
    const proposed = told(fact(1, "plan.proposed", { spec, steps: [] }, { aggregateId: "p2" }));
    expect(openPlans([row("p1")], proposed).map(({ title }) => title)).toEqual(["Read", "Told"]);
    const amendment = { version: 2, steps: [], kept: {}, by: "u", at: AT };
    const amended = foldNews(proposed, fact(2, "plan.amended", amendment, { aggregateId: "p1" }));
    expect(openPlans([row("p1")], amended)[0]).toMatchObject({ id: "p1", title: "Read", version: 2 });
    const answered = foldNews(amended, fact(3, "plan.approved", {}, { aggregateId: "p1" }));
    expect(openPlans([row("p1")], answered).map(({ id }) => id)).toEqual(["p2"]);
  });
});

describe("doubts", () => {
  it("adds calls in doubt and drops those that were settled or whose result came late", () => {
    const read = [{ callId: "k1" }, { callId: "k2" }] as Parameters<typeof openDoubts>[0];
    const news = told(
      fact(1, "tool_call.in_doubt", {}, { aggregateId: "k3" }),
      fact(2, "tool_call.settled", {}, { aggregateId: "k1" }),
      fact(3, "tool_call.completed", {}, { aggregateId: "k2" }),
    );
    expect(openDoubts(read, news)).toEqual([{ callId: "k3" }]);
  });
});
