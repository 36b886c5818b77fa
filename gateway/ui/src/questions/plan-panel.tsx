/** A plan that an agent puts to a person, and the answer. The same in a conversation and in the inbox. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { api, data, type Schema } from "../api/client";
import { me } from "../api/queries";
import { usePast } from "../conversation/past";
import type { Plan } from "../history/model";
import { may } from "../live/workspace";
import { Badge, type Tone } from "../parts/badge";
import { Button } from "../parts/button";
import { ErrorNote } from "../parts/states";
import { Countdown, When } from "../parts/time";
import { useWho } from "../parts/who";
import { flawsIn } from "./approval-panel";
import { NoteField } from "./note-field";
import { type Draft, draftsOf, PlanEditor, stepsOf } from "./plan-editor";
import { PlanSteps } from "./plan-steps";
import { QuestionCard } from "./question-card";

interface Props {
  plan: Plan;
  /** Whether its turn still goes on: then an approved plan can be changed. */
  goesOn: boolean;
  /** What was called that is not in it. */
  drift?: ReactNode;
  /** A box to choose it with. */
  before?: ReactNode;
}

const STATUS: Record<Plan["status"], { words: string; tone: Tone }> = {
  proposed: { words: "wants your answer", tone: "warn" },
  approved: { words: "approved", tone: "good" },
  rejected: { words: "rejected", tone: "bad" },
  expired: { words: "nobody answered in time", tone: "neutral" },
  superseded: { words: "no longer needed", tone: "neutral" },
};

export function PlanPanel({ plan, goesOn, drift, before }: Props) {
  const { data: who } = useQuery(me);
  const past = usePast();
  const [note, setNote] = useState<string>();
  const [drafts, setDrafts] = useState<Draft[]>();
  const steps = drafts && stepsOf(drafts);
  const answer = useMutation({
    mutationFn: (decision: Schema["PlanAnswer"]) =>
      data(
        api.POST("/v1/plans/{id}/resolve", {
          params: { path: { id: plan.id } },
          body: {
            decision,
            // What a person sees is what they answer.
            version: plan.version,
            note: note?.trim() || null,
            amendedSteps: decision === "amend" ? (steps ?? null) : null,
          },
        }),
      ),
  });
  const { reset } = answer;
  // Another version, or another standing, is another question.
  useEffect(() => {
    reset();
    setDrafts(undefined);
    setNote(undefined);
  }, [plan.version, plan.status, reset]);
  const canAnswer = may(who, "decide") && !past;
  const given = answer.isPending || answer.isSuccess;
  const open = plan.status === "proposed";
  const say = (decision: Schema["PlanAnswer"]) => {
    if (canAnswer && !given && (decision !== "amend" || steps)) answer.mutate(decision);
  };
  const amend = () => setDrafts((drafts) => drafts ?? draftsOf(plan.steps));
  const keys = { a: () => say("approve"), d: () => say("reject"), e: amend, n: () => setNote(note ?? "") };
  const flaws = flawsIn(answer.error, "/amendedSteps");
  const { words, tone } = STATUS[plan.status];

  return (
    <QuestionCard
      className="plan"
      open={open && !past}
      before={before}
      keys={open && canAnswer && !given && !drafts ? keys : undefined}
      title={
        <>
          {open ? "May the agent follow this plan? " : "Plan: "}
          <strong>{plan.title}</strong>
        </>
      }
      facts={
        <>
          <Badge tone={tone}>{words}</Badge>
          {plan.version > 1 && <Badge>version {plan.version}</Badge>}
          {open && plan.needed > 1 && (
            <Badge tone="info">
              {plan.given} of {plan.needed} people
            </Badge>
          )}
          {open && plan.expiresAt && !past && <Countdown until={plan.expiresAt} />}
        </>
      }
    >
      {plan.rationale && <p className="muted">{plan.rationale}</p>}
      {drafts ? <PlanEditor drafts={drafts} onChange={setDrafts} flaws={flaws} /> : <PlanSteps plan={plan} />}
      {drift}
      <Said plan={plan} />
      {note !== undefined && (
        <NoteField note={note} onChange={setNote} onEnter={() => say(drafts ? "amend" : "reject")} />
      )}
      {answer.error && flaws.length === 0 && <ErrorNote error={answer.error} />}
      {past ? null : !canAnswer ? (
        open &&
        who && (
          <p className="muted">Your key ({who.role}) may not answer. A member, an admin or an owner can.</p>
        )
      ) : drafts ? (
        <footer>
          <Button look="primary" busy={given} disabled={!steps} onClick={() => say("amend")}>
            Save as version {plan.version + 1}
          </Button>
          <Button onClick={() => setDrafts(undefined)}>Leave as it is</Button>
          {note === undefined && (
            <Button look="quiet" onClick={() => setNote("")}>
              Add a note
            </Button>
          )}
        </footer>
      ) : answer.variables === "approve" && answer.data?.status === "proposed" ? (
        <p className="muted" role="status">
          You approved. {plan.needed - plan.given} more must.
        </p>
      ) : open ? (
        <footer>
          <Button look="primary" busy={given} onClick={() => say("approve")} aria-keyshortcuts="a">
            Approve <kbd>A</kbd>
          </Button>
          <Button look="danger" busy={given} onClick={() => say("reject")} aria-keyshortcuts="d">
            Reject <kbd>D</kbd>
          </Button>
          <Button look="quiet" onClick={amend} aria-keyshortcuts="e">
            Amend <kbd>E</kbd>
          </Button>
          {note === undefined && (
            <Button look="quiet" onClick={() => setNote("")} aria-keyshortcuts="n">
              Add a note <kbd>N</kbd>
            </Button>
          )}
        </footer>
      ) : (
        plan.status === "approved" &&
        goesOn && (
          <footer>
            <Button look="quiet" size="small" onClick={amend}>
              Amend
            </Button>
          </footer>
        )
      )}
    </QuestionCard>
  );
}

/** Who spoke last of it. */
function Said({ plan }: { plan: Plan }) {
  const who = useWho(plan.saidBy);
  if (!plan.saidBy) return null;
  const what = plan.status === "approved" ? "Approved" : plan.status === "rejected" ? "Rejected" : "Amended";
  return (
    <p className="small">
      {what} by {who}
      {plan.saidAt && (
        <span className="muted">
          {" · "}
          <When at={plan.saidAt} />
        </span>
      )}
      {plan.note && <q className="said">{plan.note}</q>}
    </p>
  );
}
