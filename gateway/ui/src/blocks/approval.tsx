/** A question to a person, inside the conversation that waits for it; and the answer once it is given. */
import { Check, Clock, X } from "lucide-react";
import type { Approval } from "../history/model";
import { When } from "../parts/time";
import { useWho } from "../parts/who";
import { ApprovalPanel } from "../questions/approval-panel";
import type { BlockOf } from "./block";

export function ApprovalBlock({ block: { approval } }: { block: BlockOf<"approval"> }) {
  return <ApprovalPanel approval={approval} />;
}

const WORDS: Record<Exclude<Approval["status"], "open">, string> = {
  approved: "Approved",
  denied: "Denied",
  expired: "Nobody answered in time",
  superseded: "No longer needed: the turn moved on",
};

export function Answered({ approval }: { approval: Approval }) {
  const { status, resolvedBy, resolvedAt, note, edited } = approval;
  const who = useWho(resolvedBy);
  if (status === "open") return null;
  const Icon = status === "approved" ? Check : status === "denied" ? X : Clock;
  return (
    <div className={`answered ${status}`}>
      <Icon size={15} aria-hidden />
      <p>
        {WORDS[status]}
        {who && ` by ${who}`}
        {edited && ", with other arguments"}
        {resolvedAt && (
          <span className="muted">
            {" · "}
            <When at={resolvedAt} />
          </span>
        )}
        {note && <q>{note}</q>}
      </p>
    </div>
  );
}
