/** A tool call: what is done with what, how it stands, what came of it. */
import { ChevronDown } from "lucide-react";
import { useId, useState } from "react";
import type { Approval, Call } from "../history/model";
import { Badge, RiskBadge } from "../parts/badge";
import { lasting } from "../parts/time";
import { DRIFT } from "../questions/approval-panel";
import { toolView } from "../tools/tool-view";
import { Answered } from "./approval";
import type { BlockOf } from "./block";
import { CallStatusIcon, statusWords } from "./call-status";
import { FullValue } from "./full-value";
import { InDoubt, SettledBy } from "./in-doubt";
import { LiveOutput } from "./live-output";

export function ToolCallBlock({ block: { call, approval } }: { block: BlockOf<"tool_call"> }) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const view = toolView(call.capability);
  const title = view.title(call.input);
  return (
    <section className="card tool-call" data-status={call.status} aria-label={`Tool call: ${title}`}>
      <header>
        <CallStatusIcon status={call.status} />
        <div className="card-title">
          <h3>{title}</h3>
          <span className="facts">
            <RiskBadge risk={call.risk} />
            {call.planned && <Badge tone="info">as planned</Badge>}
            {approval?.rule === DRIFT && <Badge tone="warn">not in the plan</Badge>}
            <span className="muted">{statusWords(call)}</span>
            {call.attempt > 1 && <span className="muted">attempt {call.attempt}</span>}
            {call.latencyMs !== undefined && call.latencyMs > 0 && (
              <span className="muted">{lasting(call.latencyMs)}</span>
            )}
          </span>
        </div>
        <button
          type="button"
          className="icon-button"
          aria-expanded={open}
          aria-controls={id}
          aria-label={open ? `Hide the details of ${title}` : `Show the details of ${title}`}
          onClick={() => setOpen(!open)}
        >
          <ChevronDown size={17} aria-hidden className={open ? "turned" : undefined} />
        </button>
      </header>
      {call.status === "started" && <LiveOutput call={call} />}
      {call.status === "in_doubt" && <InDoubt call={call} />}
      {!open && <Gist call={call} approval={approval} />}
      <div id={id} hidden={!open} className="body">
        {open && <Details call={call} approval={approval} />}
      </div>
      {approval && <Answered approval={approval} />}
      {call.settled && <SettledBy settled={call.settled} />}
    </section>
  );
}

/** One line about what came of it, while the card is closed. */
function Gist({ call, approval }: { call: Call; approval?: Approval }) {
  if (call.status === "failed" || call.status === "cancelled")
    return <p className="gist bad">{call.error?.message}</p>;
  // A person's refusal stands below, in their words.
  if (call.status === "denied" && approval) return null;
  if (call.status === "denied") return <p className="gist">Not run: {call.error?.message}</p>;
  const gist = call.status === "completed" ? toolView(call.capability).gist(call.output) : undefined;
  return gist ? <p className="gist output">{gist}</p> : null;
}

function Details({ call, approval }: { call: Call; approval?: Approval }) {
  const { Arguments, Result } = toolView(call.capability);
  return (
    <>
      <h4>Arguments</h4>
      <FullValue value={call.input} digest={call.inputRef}>
        {(input) => <Arguments input={input} />}
      </FullValue>
      {call.original && (
        <>
          <h4>As the agent asked for it</h4>
          <FullValue value={call.original.input} digest={call.original.inputRef}>
            {(input) => <Arguments input={input} />}
          </FullValue>
        </>
      )}
      {call.output !== undefined && (
        <>
          <h4>Result</h4>
          <FullValue value={call.output} digest={call.outputRef}>
            {(output) => <Result output={output} />}
          </FullValue>
        </>
      )}
      {call.error && (
        <>
          <h4>What happened</h4>
          <p>{call.error.message}</p>
          {call.error.flaws?.map((flaw) => (
            <p key={flaw.pointer}>
              <code>{flaw.pointer}</code>: {flaw.expected}
            </p>
          ))}
        </>
      )}
      <dl className="fields">
        <Field name="Tool" value={call.capability} />
        <Field name="Effect" value={call.effect} />
        {call.rule && <Field name="Decided by" value={call.rule} />}
        {call.planned && <Field name="Step of the plan" value={call.planned.stepId} />}
        {approval && <Field name="Approval" value={approval.status} />}
        <Field name="Call" value={call.id} />
      </dl>
    </>
  );
}

function Field({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
