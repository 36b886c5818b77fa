/** Any point of the conversation as it was: its facts, one by one. */
import { ChevronLeft, ChevronRight, X } from "lucide-react";
import type { Fact } from "../history/facts";
import { Button, IconButton } from "../parts/button";
import { When } from "../parts/time";

interface Props {
  facts: Fact[];
  /** How many of the facts are shown. */
  count: number;
  go: (count: number) => void;
  close: () => void;
}

export function HistoryBar({ facts, count, go, close }: Props) {
  const fact = facts[count - 1];
  return (
    <section className="history-bar" aria-label="History">
      <div className="history-row">
        <IconButton name="The fact before" disabled={count <= 1} onClick={() => go(count - 1)}>
          <ChevronLeft size={18} aria-hidden />
        </IconButton>
        <input
          type="range"
          min={1}
          max={facts.length}
          value={count}
          onChange={(event) => go(Number(event.target.value))}
          aria-label="Point in history"
          aria-valuetext={fact ? `${count} of ${facts.length}: ${fact.type}` : undefined}
          autoFocus
        />
        <IconButton name="The next fact" disabled={count >= facts.length} onClick={() => go(count + 1)}>
          <ChevronRight size={18} aria-hidden />
        </IconButton>
        <Button size="small" onClick={close}>
          <X size={14} aria-hidden /> Back to now
        </Button>
      </div>
      {fact && (
        <p className="muted small">
          <strong>
            {count} of {facts.length}
          </strong>{" "}
          · <code>{fact.type}</code> · seq {fact.seq} · by {fact.actor.kind} · <When at={fact.occurredAt} />
        </p>
      )}
    </section>
  );
}
