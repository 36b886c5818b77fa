/** What an agent asks, with what it would do, and the answer. The same in a conversation and in the inbox. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { api, data, object, type Schema } from "../api/client";
import { Problem } from "../api/problem";
import { me } from "../api/queries";
import { FullValue } from "../blocks/full-value";
import { usePast } from "../conversation/past";
import { may } from "../live/workspace";
import { Badge, RiskBadge } from "../parts/badge";
import { Button } from "../parts/button";
import { ErrorNote } from "../parts/states";
import { Countdown } from "../parts/time";
import { toolView } from "../tools/tool-view";
import { InputEditor } from "./input-editor";
import { NoteField } from "./note-field";
import { QuestionCard } from "./question-card";
import { Remember, type Remembered, toRemember } from "./remember";
import type { Flaw } from "./schema-field";

export interface Question {
  id: string;
  capability: string;
  input: unknown;
  inputRef?: string;
  risk: string;
  rule: string;
  reason?: string;
  needed: number;
  given: number;
  askedBefore: number;
  expiresAt: string;
}

interface Props {
  approval: Question;
  /** A box to choose it with. */
  before?: ReactNode;
}

/** The rule by which a call is held that no approved plan has in it. */
export const DRIFT = "plan.drift";

export function ApprovalPanel({ approval, before }: Props) {
  const { data: who } = useQuery(me);
  const past = usePast();
  const [note, setNote] = useState<string>();
  const [edit, setEdit] = useState<{ value: unknown }>();
  const [remembered, remember] = useState<Remembered>();
  const view = toolView(approval.capability);
  const input = edit ? edit.value : approval.input;
  const isEdited = edit !== undefined && JSON.stringify(edit.value) !== JSON.stringify(approval.input);
  const answer = useMutation({
    mutationFn: (decision: Schema["Decision"]) => {
      const approves = decision === "approve";
      const body = {
        decision,
        note: note?.trim() || null,
        editedInput: approves && isEdited ? (edit.value as Record<string, unknown>) : null,
        remember: approves && remembered ? toRemember(remembered, input) : null,
      };
      return data(api.POST("/v1/approvals/{id}/resolve", { params: { path: { id: approval.id } }, body }));
    },
  });
  // What travels only in part is fetched whole before it is edited.
  const begin = useMutation({
    mutationFn: async () =>
      approval.inputRef ? (JSON.parse(await object(approval.inputRef)) as unknown) : approval.input,
    onSuccess: (value) => setEdit({ value }),
  });
  const canAnswer = may(who, "decide") && !past;
  // One of several people has answered; the question is open until the others have.
  const given = answer.isPending || answer.isSuccess;
  const isValue = edit === undefined || typeof edit.value === "object";
  const answered = (decision: Schema["Decision"]) => {
    if (canAnswer && !given && (decision === "deny" || isValue)) answer.mutate(decision);
  };
  const keys = {
    a: () => answered("approve"),
    d: () => answered("deny"),
    n: () => setNote(note ?? ""),
    e: () => !edit && begin.mutate(),
    r: () => remember(remembered ?? "exact"),
  };
  const flaws = flawsIn(answer.error, "/editedInput");

  return (
    <QuestionCard
      className="approval"
      open={!past}
      before={before}
      keys={canAnswer && !given ? keys : undefined}
      title={
        <>
          May the agent do this? <strong>{view.title(input)}</strong>
        </>
      }
      facts={
        <>
          {approval.rule === DRIFT && <Badge tone="warn">not in the approved plan</Badge>}
          <RiskBadge risk={approval.risk} />
          {approval.needed > 1 && (
            <Badge tone="info">
              {approval.given} of {approval.needed} people
            </Badge>
          )}
          {!past && <Countdown until={approval.expiresAt} />}
        </>
      }
    >
      {approval.askedBefore > 0 && (
        <p className="note warn">
          It asks for exactly this once more: it was refused{" "}
          {approval.askedBefore === 1 ? "once" : `${approval.askedBefore} times`} in this turn.
        </p>
      )}
      {edit ? (
        <InputEditor
          capability={approval.capability}
          value={edit.value}
          onChange={(value) => setEdit({ value })}
          flaws={flaws}
        />
      ) : (
        <FullValue value={approval.input} digest={approval.inputRef}>
          {(input) => <view.Arguments input={input} />}
        </FullValue>
      )}
      <p className="muted small">
        <code>{approval.capability}</code> · asked by the rule <code>{approval.rule}</code>
        {approval.reason && ` · ${approval.reason}`}
      </p>
      {remembered && (
        <Remember capability={approval.capability} input={input} value={remembered} onChange={remember} />
      )}
      {note !== undefined && <NoteField note={note} onChange={setNote} onEnter={() => answered("deny")} />}
      {answer.error && flaws.length === 0 && <ErrorNote error={answer.error} />}
      {begin.error && <ErrorNote error={begin.error} />}
      {past ? null : canAnswer ? (
        answer.data?.status === "open" ? (
          <p className="muted" role="status">
            You approved. {answer.data.needed - answer.data.given} more must.
          </p>
        ) : (
          <footer>
            <Button
              look="primary"
              busy={given}
              disabled={!isValue}
              onClick={() => answered("approve")}
              aria-keyshortcuts="a"
            >
              {isEdited ? "Approve as edited" : "Approve"} <kbd>A</kbd>
            </Button>
            <Button look="danger" busy={given} onClick={() => answered("deny")} aria-keyshortcuts="d">
              Deny <kbd>D</kbd>
            </Button>
            {edit ? (
              <Button look="quiet" onClick={() => setEdit(undefined)}>
                Leave as asked
              </Button>
            ) : (
              <Button
                look="quiet"
                busy={begin.isPending}
                onClick={() => begin.mutate()}
                aria-keyshortcuts="e"
              >
                Edit <kbd>E</kbd>
              </Button>
            )}
            {!remembered && (
              <Button look="quiet" onClick={() => remember("exact")} aria-keyshortcuts="r">
                Remember <kbd>R</kbd>
              </Button>
            )}
            {note === undefined && (
              <Button look="quiet" onClick={() => setNote("")} aria-keyshortcuts="n">
                Add a note <kbd>N</kbd>
              </Button>
            )}
          </footer>
        )
      ) : (
        who && (
          <p className="muted">Your key ({who.role}) may not answer. A member, an admin or an owner can.</p>
        )
      )}
    </QuestionCard>
  );
}

/** What a refusal says of values under this pointer, with pointers from there. */
export function flawsIn(error: unknown, under: string): Flaw[] {
  const flaws = error instanceof Problem ? (error.body?.flaws ?? []) : [];
  return flaws
    .filter((flaw) => flaw.pointer.startsWith(under))
    .map((flaw) => ({ ...flaw, pointer: flaw.pointer.slice(under.length) }));
}
