/** A call whose outcome nobody knows: said plainly, without a guess, until a person settles it. */
import { CircleCheck, TriangleAlert } from "lucide-react";
import type { Call, Settled } from "../history/model";
import { When } from "../parts/time";
import { useWho } from "../parts/who";
import { Settle } from "./settle";

export function InDoubt({ call }: { call: Pick<Call, "id" | "startedAt" | "attempt" | "error"> }) {
  return (
    <div className="note warn" role="group" aria-label="Outcome unknown">
      <TriangleAlert size={18} aria-hidden />
      <div>
        <p>
          <strong>This may or may not have happened</strong>
          {call.error ? `: ${call.error.message}.` : "."}
        </p>
        <p>
          Attempt {call.attempt} had started
          {call.startedAt && (
            <>
              {" at "}
              <When at={call.startedAt} />
            </>
          )}
          , and it was not run again, because it might then happen twice. The agent was told the same. Look at
          what the call was to change, and say what you found; if its result still arrives, it appears here.
        </p>
        <Settle callId={call.id} />
      </div>
    </div>
  );
}

const WORDS: Record<Settled["outcome"], string> = {
  done: "Settled as done",
  not_done: "Settled as not done",
  run_again: "Run again, as said",
};

/** How a person settled it, once they have. */
export function SettledBy({ settled }: { settled: Settled }) {
  const who = useWho(settled.by);
  const { outcome, at, note } = settled;
  return (
    <div className="answered approved">
      <CircleCheck size={15} aria-hidden />
      <p>
        {WORDS[outcome]} by {who}
        <span className="muted">
          {" · "}
          <When at={at} />
        </span>
        {note && <q>{note}</q>}
      </p>
    </div>
  );
}
