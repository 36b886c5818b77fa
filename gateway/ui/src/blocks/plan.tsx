/** The agent's plan, inside the conversation that follows it: how its steps stand, and what was called besides. */
import { TriangleAlert } from "lucide-react";
import { isEnded, type Turn } from "../history/model";
import { DRIFT } from "../questions/approval-panel";
import { PlanPanel } from "../questions/plan-panel";
import { toolView } from "../tools/tool-view";
import type { BlockOf } from "./block";
import { statusWords } from "./call-status";

export function PlanBlock({ block: { plan, turn } }: { block: BlockOf<"plan"> }) {
  return <PlanPanel plan={plan} goesOn={!isEnded(turn)} drift={<Drift turn={turn} />} />;
}

function Drift({ turn }: { turn: Turn }) {
  const calls = Object.values(turn.calls).filter((call) => isDrift(turn, call.id));
  if (calls.length === 0) return null;
  return (
    <div className="note warn" role="group" aria-label="Not in the plan">
      <TriangleAlert size={18} aria-hidden />
      <div>
        <p>
          <strong>Asked for beside the plan:</strong>
        </p>
        <ul>
          {calls.map((call) => (
            <li key={call.id}>
              {toolView(call.capability).title(call.input)}: {statusWords(call)}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** Whether a call was held because no approved plan has it. */
export function isDrift(turn: Turn, callId: string): boolean {
  const call = turn.calls[callId];
  const approval = call?.approvalId ? turn.approvals[call.approvalId] : undefined;
  return (approval?.rule ?? call?.rule) === DRIFT;
}
