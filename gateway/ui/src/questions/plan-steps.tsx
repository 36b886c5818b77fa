/** The steps of a plan, with lines from each to those that wait for it, and how they stand. */
import { ChevronDown } from "lucide-react";
import { useId, useState } from "react";
import { CallStatusIcon } from "../blocks/call-status";
import type { CallStatus, Plan, PlanStep, StepStatus } from "../history/model";
import { Badge } from "../parts/badge";
import { toolView } from "../tools/tool-view";
import { graphOf, type Row } from "./plan-graph";

/** Pixels between lanes, and from the edge to the first. */
const LANE = 11;
const EDGE = 11;
/** Pixels from a row's top to the middle of its step's sign, and to where the row's lines run straight. */
const MIDDLE = 15;
const STRAIGHT = 30;

const ICONS: Record<StepStatus, CallStatus> = {
  pending: "requested",
  running: "started",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  denied: "denied",
  in_doubt: "in_doubt",
};

const WORDS: Record<StepStatus, string> = {
  pending: "not begun",
  running: "running",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
  denied: "denied",
  in_doubt: "outcome unknown",
};

export function PlanSteps({ plan }: { plan: Pick<Plan, "steps" | "before" | "uses"> }) {
  const { rows, lanes } = graphOf(plan.steps);
  return (
    <ol className="plan-steps">
      {rows.map((row) => (
        <li key={row.step.id} style={{ paddingLeft: x(lanes) + LANE + 8 }}>
          <Lines row={row} lanes={lanes} />
          <span className="sign" style={{ left: EDGE - 9, top: MIDDLE - 9 }}>
            <CallStatusIcon status={ICONS[statusOf(plan, row.step)]} />
          </span>
          <Step row={row} status={statusOf(plan, row.step)} change={changeOf(plan.before, row.step)} />
        </li>
      ))}
    </ol>
  );
}

function statusOf(plan: Pick<Plan, "uses">, step: PlanStep): StepStatus {
  return plan.uses[step.id]?.status ?? "pending";
}

/** What a person made of the step, against the version before. */
function changeOf(before: PlanStep[] | undefined, step: PlanStep): "new" | "changed" | undefined {
  if (!before) return undefined;
  const old = before.find(({ id }) => id === step.id);
  if (!old) return "new";
  return alike(old, step) ? undefined : "changed";
}

function alike(one: PlanStep, other: PlanStep): boolean {
  const whole = ({ id, summary, intent = "", capability = null, input = null, dependsOn = [] }: PlanStep) =>
    JSON.stringify([id, summary, intent, capability, input, dependsOn]);
  return whole(one) === whole(other);
}

function x(lane: number) {
  return EDGE + lane * LANE;
}

function Lines({ row, lanes }: { row: Row; lanes: number }) {
  const curve = (from: number, top: number, to: number, bottom: number) => {
    const half = (top + bottom) / 2;
    return `M ${from} ${top} C ${from} ${half} ${to} ${half} ${to} ${bottom}`;
  };
  return (
    <span className="lines" aria-hidden>
      <svg width={x(lanes) + LANE} height={STRAIGHT}>
        <title>lines</title>
        {row.into.map((lane) => (
          <path key={`into ${lane}`} d={curve(x(lane), 0, x(0), MIDDLE)} />
        ))}
        {row.from.map((lane) => (
          <path key={`from ${lane}`} d={curve(x(0), MIDDLE, x(lane), STRAIGHT)} />
        ))}
        {row.past.map((lane) => (
          <path key={`past ${lane}`} d={`M ${x(lane)} 0 V ${STRAIGHT}`} />
        ))}
      </svg>
      {[...row.from, ...row.past].map((lane) => (
        <i key={lane} style={{ left: x(lane) - 1, top: STRAIGHT }} />
      ))}
    </span>
  );
}

function Step({ row, status, change }: { row: Row; status: StepStatus; change?: "new" | "changed" }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const { step, number, after } = row;
  const { capability, input } = step;
  const Arguments = capability ? toolView(capability).Arguments : undefined;
  return (
    <>
      <p className="step-head">
        <span className="step-summary">
          {number}. {step.summary}
        </span>
        {change && <Badge tone="info">{change}</Badge>}
        <span className="muted small">{WORDS[status]}</span>
      </p>
      {step.intent && <p className="muted small">{step.intent}</p>}
      <p className="muted small">
        {after.length > 0 && `after ${after.join(", ")} · `}
        {capability ? (
          <>
            <code>{capability}</code>{" "}
            {input === undefined || input === null
              ? "asks when it comes to it"
              : "granted with exactly these arguments"}
          </>
        ) : (
          "no call"
        )}
        {Arguments && input !== undefined && input !== null && (
          <button
            type="button"
            className="icon-button small"
            aria-expanded={open}
            aria-controls={id}
            aria-label={`${open ? "Hide" : "Show"} the arguments of step ${number}`}
            onClick={() => setOpen(!open)}
          >
            <ChevronDown size={15} aria-hidden className={open ? "turned" : undefined} />
          </button>
        )}
      </p>
      <div id={id} hidden={!open}>
        {open && Arguments && <Arguments input={input} />}
      </div>
    </>
  );
}
