/** A question to a person, inside the conversation that waits for it; and the answer once it is given. */
import { useQuery } from "@tanstack/react-query";
import { Check, Clock, X } from "lucide-react";
import { me } from "../api/queries";
import type { Approval } from "../history/model";
import { ApprovalPanel } from "../parts/approval-panel";
import { When } from "../parts/time";
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
  const { data } = useQuery(me);
  const { status, resolvedBy, resolvedAt, note } = approval;
  if (status === "open") return null;
  const Icon = status === "approved" ? Check : status === "denied" ? X : Clock;
  const who = resolvedBy && (resolvedBy === data?.userId ? "you" : `user ${resolvedBy.slice(-6)}`);
  return (
    <div className={`answered ${status}`}>
      <Icon size={15} aria-hidden />
      <p>
        {WORDS[status]}
        {who && ` by ${who}`}
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
