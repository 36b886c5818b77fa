/** A turn: what the person said, and what came of it. */
import { ChevronLeft, ChevronRight, Pencil } from "lucide-react";
import { memo, useState } from "react";
import { blocksOf } from "../blocks/block";
import { BlockView } from "../blocks/registry";
import { isEnded, type Turn } from "../history/model";
import { Badge } from "../parts/badge";
import { IconButton } from "../parts/button";
import { CopyButton } from "../parts/code";
import { amount, lasting, When } from "../parts/time";
import { EditMessage } from "./edit-message";
import { usePast } from "./past";

interface Props {
  turn: Turn;
  /** The other answers to the same place, as a person may look at them. */
  branch?: { number: number; of: number; choose: (number: number) => void };
  conversation: string;
  canEdit: boolean;
}

export const TurnView = memo(function TurnView({ turn, branch, conversation, canEdit }: Props) {
  const [editing, setEditing] = useState(false);
  const past = usePast();
  const text = turn.steps
    .map((step) => step.text)
    .filter(Boolean)
    .join("\n\n");
  return (
    <article className="turn" aria-label={`Turn: ${turn.text.slice(0, 80)}`} data-status={turn.status}>
      {editing ? (
        <EditMessage turn={turn} conversation={conversation} close={() => setEditing(false)} />
      ) : (
        <div className="message user">
          <h2 className="unseen">You said</h2>
          <div className="bubble">{turn.text}</div>
          <div className="message-row">
            {turn.asked === "plan" && <Badge tone="info">plan first</Badge>}
            {branch && <BranchSwitch {...branch} />}
            {canEdit && !past && (
              <IconButton name="Edit and branch" className="small on-hover" onClick={() => setEditing(true)}>
                <Pencil size={14} aria-hidden />
              </IconButton>
            )}
          </div>
        </div>
      )}
      <div className="message agent">
        <h2 className="unseen">The agent answered</h2>
        {blocksOf(turn).map((block) => (
          <BlockView key={block.key} block={block} />
        ))}
        <Standing turn={turn} />
        {isEnded(turn) && (
          <footer className="turn-foot">
            {text && <CopyButton text={text} name="Copy the answer" />}
            <TurnFacts turn={turn} />
          </footer>
        )}
      </div>
    </article>
  );
});

function BranchSwitch({ number, of, choose }: NonNullable<Props["branch"]>) {
  return (
    <span className="branches">
      <IconButton
        name="The branch before"
        className="small"
        disabled={number === 1}
        onClick={() => choose(number - 1)}
      >
        <ChevronLeft size={15} aria-hidden />
      </IconButton>
      <span>
        {number} of {of}
      </span>
      <IconButton
        name="The next branch"
        className="small"
        disabled={number === of}
        onClick={() => choose(number + 1)}
      >
        <ChevronRight size={15} aria-hidden />
      </IconButton>
    </span>
  );
}

/** What the turn does while nothing of it is to be seen. */
function Standing({ turn }: { turn: Turn }) {
  if (turn.status === "queued") return <p className="standing">Waits until the turn before has ended.</p>;
  if (turn.status !== "running") return null;
  if (turn.cancelRequested) return <p className="standing shimmer">Stopping…</p>;
  const step = turn.steps.at(-1);
  const speaks = step && (step.text || step.reasoning || step.drafts.length > 0);
  const waits = !step || (step.status === "asking" && !speaks) || step.status === "failed";
  if (!waits) return null;
  return <p className="standing shimmer">{turn.mode === "plan" ? "Planning…" : "Working…"}</p>;
}

/** Tokens, calls and time of a turn that has ended. */
export function TurnFacts({ turn }: { turn: Turn }) {
  const calls = Object.keys(turn.calls).length;
  const took =
    turn.startedAt && turn.endedAt ? Date.parse(turn.endedAt) - Date.parse(turn.startedAt) : undefined;
  const { inputTokens = 0, outputTokens = 0 } = turn.usage ?? {};
  const words = [
    `${amount(inputTokens + outputTokens)} tokens`,
    calls > 0 && `${calls} ${calls === 1 ? "call" : "calls"}`,
    took !== undefined && lasting(took),
  ];
  return (
    <span
      className="muted small"
      title={`${amount(inputTokens)} tokens read, ${amount(outputTokens)} written`}
    >
      {words.filter(Boolean).join(" · ")}
      {turn.endedAt && (
        <>
          {" · "}
          <When at={turn.endedAt} />
        </>
      )}
    </span>
  );
}
