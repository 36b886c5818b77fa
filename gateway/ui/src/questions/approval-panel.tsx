/** What an agent asks, with what it would do, and the answer. The same in a conversation and in the inbox. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { api, data, type Schema } from "../api/client";
import { me } from "../api/queries";
import { FullValue } from "../blocks/full-value";
import { usePast } from "../conversation/past";
import { may } from "../live/workspace";
import { toolView } from "../tools/tool-view";
import { RiskBadge } from "./badge";
import { Button } from "./button";
import { ErrorNote } from "./states";
import { Countdown } from "./time";

export interface Question {
  id: string;
  capability: string;
  input: unknown;
  inputRef?: string;
  risk: string;
  rule: string;
  expiresAt: string;
}

interface Props {
  approval: Question;
  /** Where it comes from, or a box to choose it with. */
  before?: ReactNode;
}

/** Finds the panel that a shortcut goes to. */
export const APPROVAL_PANEL = "approval-panel";

export function ApprovalPanel({ approval, before }: Props) {
  const { data: who } = useQuery(me);
  const past = usePast();
  const [note, setNote] = useState("");
  const [noting, setNoting] = useState(false);
  const noteBox = useRef<HTMLTextAreaElement>(null);
  const title = useId();
  const view = toolView(approval.capability);
  const answer = useMutation({
    mutationFn: (decision: Schema["Decision"]) =>
      data(
        api.POST("/v1/approvals/{id}/resolve", {
          params: { path: { id: approval.id } },
          body: { decision, note: note.trim() || null },
        }),
      ),
  });
  useEffect(() => {
    if (noting) noteBox.current?.focus();
  }, [noting]);
  const canAnswer = may(who, "decide") && !past;
  const given = answer.isPending || answer.isSuccess;
  const answered = (decision: Schema["Decision"]) => canAnswer && !given && answer.mutate(decision);

  // Single keys, while the panel itself or one of its buttons has the focus and nothing is being typed.
  const keys = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLTextAreaElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { a: () => answered("approve"), d: () => answered("deny"), n: () => setNoting(true) }[
      event.key
    ];
    if (!act || !canAnswer) return;
    event.preventDefault();
    act();
  };

  return (
    <div
      className={`card approval ${APPROVAL_PANEL}`}
      role="group"
      aria-labelledby={title}
      tabIndex={0}
      onKeyDown={keys}
    >
      <header>
        {before}
        <h3 id={title}>
          May the agent do this? <strong>{view.title(approval.input)}</strong>
        </h3>
        <span className="facts">
          <RiskBadge risk={approval.risk} />
          {!past && <Countdown until={approval.expiresAt} />}
        </span>
      </header>
      <div className="body">
        <FullValue value={approval.input} digest={approval.inputRef}>
          {(input) => <view.Arguments input={input} />}
        </FullValue>
        <p className="muted small">
          <code>{approval.capability}</code> · asked by the rule <code>{approval.rule}</code>
        </p>
        {noting && (
          <label className="field">
            Note, which the agent reads
            <textarea
              ref={noteBox}
              value={note}
              maxLength={4000}
              rows={2}
              onChange={(event) => setNote(event.target.value)}
              onKeyDown={(event) =>
                event.key === "Enter" && (event.ctrlKey || event.metaKey) && answered("deny")
              }
              placeholder="Why, or what to do instead"
            />
          </label>
        )}
        {answer.error && <ErrorNote error={answer.error} />}
        {past ? null : canAnswer ? (
          <footer>
            <Button look="primary" busy={given} onClick={() => answered("approve")} aria-keyshortcuts="a">
              Approve <kbd>A</kbd>
            </Button>
            <Button look="danger" busy={given} onClick={() => answered("deny")} aria-keyshortcuts="d">
              Deny <kbd>D</kbd>
            </Button>
            {!noting && (
              <Button look="quiet" onClick={() => setNoting(true)} aria-keyshortcuts="n">
                Add a note <kbd>N</kbd>
              </Button>
            )}
          </footer>
        ) : (
          who && (
            <p className="muted">Your key ({who.role}) may not answer. A member, an admin or an owner can.</p>
          )
        )}
      </div>
    </div>
  );
}
