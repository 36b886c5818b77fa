/** A conversation as far as its facts and live frames were seen. Made by `fold` alone; nothing else changes it. */
import type { Schema } from "../api/client";

export type Usage = Schema["Usage"];
export type Risk = Schema["Risk"];
export type Failure = Schema["Failure"];

export type CallStatus =
  | "requested"
  | "held"
  | "cleared"
  | "started"
  | "completed"
  | "failed"
  | "cancelled"
  | "denied"
  | "in_doubt";

export interface Printed {
  channel: "stdout" | "stderr";
  text: string;
}

/** How a person settled a call whose outcome was unknown. */
export interface Settled {
  outcome: Schema["SettledAs"];
  by: string;
  at: string;
  note?: string;
}

/** A tool call and its ledger. */
export interface Call {
  id: string;
  capability: string;
  risk: Risk;
  effect: Schema["Effect"];
  /** What it runs with: a person's edit, if there was one. */
  input: unknown;
  /** Where the whole input is, when `input` is only its beginning. */
  inputRef?: string;
  /** What was asked for, when a person put something else in its place. */
  original?: { input: unknown; inputRef?: string };
  status: CallStatus;
  attempt: number;
  rule?: string;
  /** The step of an approved plan that it carries out. */
  planned?: { planId: string; stepId: string };
  approvalId?: string;
  startedAt?: string;
  /** What the running attempt has printed; withdrawn when the result is there. */
  printed: Printed[];
  /** Bytes that were seen of each channel. */
  seen: Record<Printed["channel"], number>;
  output?: unknown;
  outputRef?: string;
  error?: Failure & { flaws?: { pointer: string; expected: string }[] };
  latencyMs?: number;
  settled?: Settled;
}

export type ApprovalStatus = "open" | "approved" | "denied" | "expired" | "superseded";

/** A question to a person. */
export interface Approval {
  id: string;
  callId: string;
  capability: string;
  input: unknown;
  inputRef?: string;
  risk: Risk;
  rule: string;
  /** Why a person is asked, in words. */
  reason?: string;
  /** How many people must approve, and how many have. */
  needed: number;
  given: number;
  /** How often the very same call was asked for before, in vain. */
  askedBefore: number;
  requestedAt: string;
  expiresAt: string;
  status: ApprovalStatus;
  /** Whether it was approved with other arguments. */
  edited?: boolean;
  resolvedBy?: string;
  resolvedAt?: string;
  note?: string;
}

export type PlanStep = Schema["PlanStep"];
export type StepStatus = Schema["StepStatus"];

/** What an agent means to do, put to a person; in versions, of which the last counts. */
export interface Plan {
  id: string;
  callId: string;
  turnId: string;
  title: string;
  rationale?: string;
  version: number;
  status: Schema["PlanStatus"];
  /** How many people must approve it, and how many have. */
  needed: number;
  given: number;
  /** When it closes by itself, if it does. */
  expiresAt?: string;
  steps: PlanStep[];
  /** The steps of the version before, once a person has changed them. */
  before?: PlanStep[];
  /** What has become of the steps that were begun. */
  uses: Record<string, { callId: string; status: StepStatus }>;
  /** Who spoke last of it, when and in which words. */
  saidBy?: string;
  saidAt?: string;
  note?: string;
}

/** Arguments that the model is still writing. */
export interface Draft {
  callId: string;
  text: string;
  seen: number;
}

/** One answer of the model within a turn. */
export interface Step {
  number: number;
  attempt: number;
  status: "asking" | "answered" | "failed";
  reasoning: string;
  text: string;
  /** Bytes of live text that were seen. */
  seen: { reasoning: number; text: number };
  drafts: Draft[];
  calls: string[];
  model?: string;
  usage?: Usage;
  failure?: Failure & { retryable: boolean };
}

export type TurnStatus = "queued" | "running" | "paused" | "completed" | "failed" | "cancelled";

/** One user message to its end. */
export interface Turn {
  id: string;
  messageId: string;
  /** The message that the user's message follows. */
  parentId?: string;
  answerId: string;
  text: string;
  at: string;
  status: TurnStatus;
  /** Whether it plans or acts now, and what it was asked for. */
  mode: Schema["Mode"];
  asked: Schema["Mode"];
  model?: string;
  agentId?: string;
  startedAt?: string;
  endedAt?: string;
  cancelRequested: boolean;
  steps: Step[];
  calls: Record<string, Call>;
  approvals: Record<string, Approval>;
  plans: Record<string, Plan>;
  usage?: Usage;
  error?: Failure;
}

export interface Talk {
  id: string;
  title: string;
  archived: boolean;
  /** The last fact that was taken in. */
  seq: number;
  turns: Record<string, Turn>;
  /** Turns as their messages came. */
  order: string[];
  /** Facts whose form this page does not know: it is older than the server. */
  unread: number;
}

export function emptyTalk(id: string): Talk {
  return { id, title: "", archived: false, seq: 0, turns: {}, order: [], unread: 0 };
}

/** The turn that runs or waits for people now. */
export function openTurn(talk: Talk): Turn | undefined {
  const id = talk.order.find((id) => isOpen(talk.turns[id]?.status));
  return id ? talk.turns[id] : undefined;
}

function isOpen(status: TurnStatus | undefined) {
  return status === "running" || status === "paused";
}

export function isEnded(turn: Turn) {
  return turn.status === "completed" || turn.status === "failed" || turn.status === "cancelled";
}
