import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fact, Frame } from "./facts";
import { asOf, fold, foldFact, type Seen } from "./fold";
import { emptyTalk, openTurn, type Talk } from "./model";
import { branches, path } from "./path";

const SAMPLES = join(import.meta.dirname, "../../../../domain/tests/events");
const TURN = "018f0000-0000-7000-8000-000000000004";
const CALL = "018f0000-0000-7000-8000-000000000020";
const APPROVAL = "018f0000-0000-7000-8000-000000000023";
const PLAN = "6a1fd7a1-2b1f-5a2c-8d13-0d6a6cbb5f02";

/** The stored sample of a type, as a fact. */
function fact(seq: number, type: string, payload = sample(type)): Fact {
  const ids: Record<string, string> = { tool_call: CALL, approval: APPROVAL, plan: PLAN };
  const id = ids[type.split(".")[0] ?? ""] ?? TURN;
  return {
    seq,
    type,
    payload,
    version: 1,
    eventId: `e${seq}`,
    aggregateType: type.split(".")[0] ?? "",
    aggregateId: id,
    aggregateVersion: seq,
    tenantId: "t",
    workspaceId: "w",
    turnId: TURN,
    actor: { kind: "user", id: "u" },
    causationId: "c",
    correlationId: "c",
    occurredAt: "2026-11-29T10:00:00Z",
  } as Fact;
}

function sample(type: string): unknown {
  return JSON.parse(readFileSync(join(SAMPLES, type, "1.json"), "utf8"));
}

function facts(...types: string[]): Seen[] {
  return types.map((type, index) => ({ fact: fact(index + 1, type) }));
}

function frame(more: Partial<Frame>): Seen {
  return { frame: { type: "text-delta", turnId: TURN, step: 1, attempt: 1, offset: 0, text: "", ...more } };
}

const ASKED = ["conversation.started", "conversation.message_added", "turn.requested", "turn.started"];
const HELD = [...ASKED, "turn.step_started", "turn.step_completed", "tool_call.requested", "tool_call.held"];
const WAITING = [...HELD, "approval.requested", "turn.paused"];

const told = (seen: Seen[]) => fold(emptyTalk("c"), seen);
const turnOf = (talk: Talk) => {
  const turn = talk.turns[TURN];
  if (!turn) throw new Error("no turn");
  return turn;
};

describe("facts", () => {
  it("takes every stored form of every fact", () => {
    const types = readdirSync(SAMPLES);
    expect(types.length).toBeGreaterThan(30);
    for (const type of types) {
      for (const file of readdirSync(join(SAMPLES, type))) {
        const payload = JSON.parse(readFileSync(join(SAMPLES, type, file), "utf8"));
        const talk = foldFact({ ...told(facts(...WAITING)), seq: 100 }, fact(101, type, payload));
        expect(talk).toMatchObject({ seq: 101, unread: 0 });
      }
    }
  });

  it("knows a call from its request to its result", () => {
    const held = turnOf(told(facts(...WAITING)));
    expect(held.status).toBe("paused");
    expect(held.calls[CALL]).toMatchObject({ status: "held", approvalId: APPROVAL, risk: "high" });
    expect(held.approvals[APPROVAL]).toMatchObject({ status: "open", input: { code: "print(6 * 7)" } });
    const end = [
      "approval.approved",
      "tool_call.cleared",
      "turn.resumed",
      "tool_call.started",
      "tool_call.completed",
    ];
    const done = turnOf(told(facts(...WAITING, ...end, "turn.completed")));
    expect(done.approvals[APPROVAL]?.status).toBe("approved");
    expect(done.calls[CALL]).toMatchObject({
      status: "completed",
      latencyMs: 1250,
      outputRef: expect.any(String),
    });
    expect(done.usage).toEqual({ inputTokens: 210, outputTokens: 34 });
    expect(openTurn(told(facts(...WAITING, ...end, "turn.completed")))).toBeUndefined();
  });

  it("tells a refusal in the person's words and a doubt as a doubt", () => {
    const denied = turnOf(told(facts(...WAITING, "approval.denied", "tool_call.denied")));
    expect(denied.calls[CALL]?.error?.message).toBe("wait for Friday");
    expect(denied.approvals[APPROVAL]?.note).toBe("wait for Friday");
    const doubt = turnOf(told(facts(...HELD, "tool_call.started", "tool_call.in_doubt")));
    expect(doubt.calls[CALL]?.status).toBe("in_doubt");
  });

  it("knows what a person put in place of the arguments, and how a doubt was settled", () => {
    const edited = { input: { inline: { code: "print(1)" } } };
    const cleared = { rule: "approval", edited };
    const approved = { callId: CALL, by: "u", at: "2026-11-29T10:00:02Z", edited };
    const waiting = facts(...WAITING);
    const next = waiting.length;
    const turn = turnOf(
      told([
        ...waiting,
        { fact: fact(next + 1, "approval.approved", approved) },
        { fact: fact(next + 2, "tool_call.cleared", cleared) },
        { fact: fact(next + 3, "tool_call.started") },
        { fact: fact(next + 4, "tool_call.in_doubt") },
        { fact: fact(next + 5, "tool_call.settled") },
      ]),
    );
    expect(turn.approvals[APPROVAL]?.edited).toBe(true);
    expect(turn.calls[CALL]).toMatchObject({
      input: { code: "print(1)" },
      original: { input: { code: "print(6 * 7)" } },
      settled: { outcome: "not_done", note: "The bank says no." },
    });
  });

  it("knows a plan in its versions, and its steps follow their calls", () => {
    const begun = facts(...ASKED, "plan.proposed", "plan.approved", "plan.step_started", "plan.step_ended");
    const done = turnOf(told(begun)).plans[PLAN];
    expect(done).toMatchObject({ title: "Two numbers", status: "approved", version: 1, note: "go" });
    expect(done?.uses).toMatchObject({ a: { status: "completed" } });
    const amended = turnOf(told([...begun, { fact: fact(50, "plan.amended") }])).plans[PLAN];
    expect(amended).toMatchObject({ status: "proposed", version: 2, note: "Less.", before: done?.steps });
    expect(amended?.steps).toHaveLength(1);
    const gone = told([...begun, { fact: fact(50, "plan.rejected") }, { fact: fact(51, "plan.superseded") }]);
    expect(turnOf(gone).plans[PLAN]?.status).toBe("superseded");
    const switched = turnOf(told([...begun, { fact: fact(50, "turn.mode_switched", { mode: "plan" }) }]));
    expect([switched.mode, switched.asked]).toEqual(["plan", "act"]);
  });

  it("takes an answer without calls, and outlives a form that it does not know", () => {
    const result = { text: "42", finish: "stop", model: "m", usage: { inputTokens: 1, outputTokens: 1 } };
    const answer = fact(50, "turn.step_completed", { step: 1, attempt: 1, result });
    expect(turnOf(told([...facts(...ASKED), { fact: answer }])).steps).toMatchObject([
      { text: "42", calls: [] },
    ]);
    const strange = fact(51, "turn.step_completed", { unheard: "of" });
    expect(told([...facts(...ASKED), { fact: answer }, { fact: strange }])).toMatchObject({
      seq: 51,
      unread: 1,
    });
  });

  it("takes nothing twice", () => {
    const once = told(facts(...WAITING));
    expect(fold(once, facts(...WAITING))).toEqual(once);
  });

  it("shows any point of the past as it was", () => {
    const all = WAITING.map((type, index) => fact(index + 1, type));
    expect(turnOf(asOf("c", all, HELD.length)).calls[CALL]?.status).toBe("held");
    expect(asOf("c", all, 1)).toMatchObject({ order: [], title: told(facts(...ASKED)).title });
  });

  it("keeps what did not change", () => {
    const before = told(facts(...ASKED));
    expect(fold(before, [{ fact: fact(99, "api_key.created") }]).turns).toBe(before.turns);
  });
});

describe("live frames", () => {
  const asking = facts(...ASKED, "turn.step_started");

  it("shows each byte once, also after joining anew", () => {
    const pieces = [frame({ text: "Grü" }), frame({ offset: 4, text: "ße" }), frame({ text: "Grüße dich" })];
    expect(turnOf(told([...asking, ...pieces])).steps[0]?.text).toBe("Grüße dich");
  });

  it("marks what was lost, and the fact brings it", () => {
    const lossy = [...asking, frame({ text: "one" }), frame({ offset: 8, text: "three" })];
    expect(turnOf(told(lossy)).steps[0]?.text).toBe("one…three");
    const whole = fold(told(lossy), [{ fact: fact(50, "turn.step_completed") }]);
    expect(turnOf(whole).steps[0]?.text).toBe("I will compute it.");
  });

  it("is gone with its attempt, and a frame of an older one is too late", () => {
    const retried = fact(50, "turn.step_started", { step: 1, attempt: 2 });
    const talk = told([
      ...asking,
      frame({ text: "half" }),
      { fact: retried },
      frame({ offset: 4, text: "late" }),
    ]);
    expect(turnOf(talk).steps).toMatchObject([{ attempt: 2, text: "" }]);
  });

  it("prints what a running call prints, by channel, until its result is there", () => {
    const running = [...facts(...HELD, "tool_call.cleared", "tool_call.started")];
    const out = (text: string, offset: number, channel: "stdout" | "stderr") =>
      frame({ type: "tool-call-output", callId: CALL, text, offset, channel });
    const printed = told([...running, out("a", 0, "stdout"), out("!", 0, "stderr"), out("b", 1, "stdout")]);
    expect(turnOf(printed).calls[CALL]?.printed.map((piece) => piece.text)).toEqual(["a", "!", "b"]);
    const done = fold(printed, [{ fact: fact(60, "tool_call.completed") }, out("c", 2, "stdout")]);
    expect(turnOf(done).calls[CALL]?.printed).toEqual([]);
  });

  it("shows the arguments that a model is writing", () => {
    const talk = told([...asking, frame({ type: "tool-call-input-delta", callId: CALL, text: '{"code":' })]);
    expect(turnOf(talk).steps[0]?.drafts).toMatchObject([{ callId: CALL, text: '{"code":' }]);
  });
});

describe("branches", () => {
  const added = (seq: number, turnId: string, parentMessageId?: string) => {
    const message = {
      messageId: `m${turnId}`,
      assistantMessageId: `a${turnId}`,
      turnId,
      parentMessageId,
      text: turnId,
    };
    return { fact: fact(seq, "conversation.message_added", { message, queued: false }) };
  };
  const talk = told([added(1, "1"), added(2, "2", "a1"), added(3, "3", "a2"), added(4, "4", "a1")]);

  it("follows the newest branch, or the one that was chosen", () => {
    const all = branches(talk);
    expect(path(all, {}).map((turn) => turn.id)).toEqual(["1", "4"]);
    expect(path(all, { a1: "2" }).map((turn) => turn.id)).toEqual(["1", "2", "3"]);
  });
});
