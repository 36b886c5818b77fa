/**
 * The payloads of the facts that a screen reads. `domain/tests/events` has a sample of every form that was ever stored,
 * and a test folds them all; fields that a screen does not need are left out here.
 */
import type { Schema } from "../api/client";
import type { ApprovalStatus, CallStatus, Failure, PlanStep, Risk, StepStatus, Usage } from "./model";

export type Fact = Schema["Fact"];

/** A body in a fact: whole, or its beginning and where the whole is. */
export type Body = { inline: unknown } | { stored: { digest: string; bytes: number; preview: string } };

export interface Payloads {
  "conversation.started": { title: string };
  "conversation.message_added": {
    message: {
      messageId: string;
      parentMessageId?: string;
      text: string;
      turnId: string;
      assistantMessageId: string;
    };
    queued: boolean;
  };
  "conversation.renamed": { title: string };
  "conversation.archived": Record<never, never>;
  "turn.requested": { spec: { agentId: string; model?: string; mode?: Schema["Mode"] } };
  "turn.started": { at: string };
  "turn.taken_over": { epoch: number };
  "turn.step_started": { step: number; attempt: number };
  "turn.step_completed": {
    step: number;
    attempt: number;
    result: { text: string; reasoning?: string; calls?: { callId: string }[]; model?: string; usage: Usage };
  };
  "turn.step_failed": { step: number; attempt: number; failure: Failure & { retryable: boolean } };
  "turn.paused": { waiting: string[] };
  "turn.resumed": Record<never, never>;
  "turn.mode_switched": { mode: Schema["Mode"] };
  "turn.cancel_requested": { reason: string };
  "turn.completed": { usage: Usage };
  "turn.failed": Failure & { usage: Usage };
  "turn.cancelled": { reason: string; usage: Usage };
  "tool_call.requested": {
    spec: {
      callId: string;
      capability: string;
      risk: Risk;
      effect: Schema["Effect"];
      input: Body;
      place?: { step: number };
      plan?: { planId: string; stepId: string };
    };
  };
  "tool_call.held": { approvalId: string; rule: string };
  "tool_call.cleared": { rule: string; edited?: { input: Body } };
  "tool_call.started": { attempt: number; at: string };
  "tool_call.completed": { output: Body; record: Ended };
  "tool_call.failed": { error: Failure & { flaws?: { pointer: string; expected: string }[] }; record: Ended };
  "tool_call.cancelled": { reason: string; record: Ended };
  "tool_call.denied": {
    refused: { by: string; reason?: string; note?: string };
    record: Ended;
  };
  "tool_call.in_doubt": { reason: string; record: Ended };
  "tool_call.settled": { outcome: Schema["SettledAs"]; by: string; note?: string; at: string };
  "approval.requested": {
    question: {
      approvalId: string;
      callId: string;
      capability: string;
      input: Body;
      risk: Risk;
      rule: string;
      reason?: string;
      terms?: { needed?: number };
      askedBefore?: number;
      expiresAt: string;
    };
  };
  "approval.voted": { given: number };
  "approval.approved": Answered & { edited?: { input: Body } };
  "approval.denied": Answered;
  "approval.expired": { callId: string };
  "approval.superseded": { callId: string };
  "plan.proposed": {
    spec: {
      planId: string;
      callId: string;
      turnId: string;
      title: string;
      rationale?: string;
      terms?: { needed?: number };
    };
    steps: PlanStep[];
    expiresAt?: string;
  };
  "plan.amended": Said & {
    version: number;
    steps: PlanStep[];
    kept: Record<string, { callId: string; status: StepStatus }>;
    expiresAt?: string;
  };
  "plan.voted": { given: number };
  "plan.expired": Record<never, never>;
  "plan.approved": Said;
  "plan.rejected": Said;
  "plan.superseded": Record<never, never>;
  "plan.step_started": { stepId: string; callId: string };
  "plan.step_ended": { stepId: string; callId: string; status: StepStatus };
}

interface Ended {
  status: CallStatus;
  attempt: number;
  latencyMs: number;
  errorCode?: string;
}

interface Said {
  by: string;
  at: string;
  note?: string;
}

interface Answered extends Said {
  callId: string;
}

export type Known = keyof Payloads;

export const CLOSED: Partial<Record<string, ApprovalStatus>> = {
  "approval.approved": "approved",
  "approval.denied": "denied",
  "approval.expired": "expired",
  "approval.superseded": "superseded",
};

/** What a body shows, and where the whole of it is. */
export function shown(body: Body): { value: unknown; ref?: string } {
  return "inline" in body ? { value: body.inline } : { value: body.stored.preview, ref: body.stored.digest };
}

/** A piece of text on its way; it may be lost and is never a fact. */
export interface Frame {
  type: "text-delta" | "reasoning-delta" | "tool-call-input-delta" | "tool-call-output";
  turnId: string;
  step: number;
  attempt: number;
  /** Bytes (UTF-8) of the same text before this piece. */
  offset: number;
  text: string;
  callId?: string;
  channel?: "stdout" | "stderr";
}
