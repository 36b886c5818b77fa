/** A plan's steps as a person wants them: said differently, with other arguments, added, taken out. */
import { useQuery } from "@tanstack/react-query";
import { Pencil, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { tools } from "../api/queries";
import type { PlanStep } from "../history/model";
import { Button, IconButton } from "../parts/button";
import { InputEditor } from "./input-editor";
import { ordered } from "./plan-graph";
import type { Flaw } from "./schema-field";

/** A step while it is edited: arguments that are no JSON yet are not the same as none. */
export interface Draft {
  step: PlanStep;
  /** Whether the call is granted with exactly its arguments. */
  exact: boolean;
}

export function draftsOf(steps: PlanStep[]): Draft[] {
  return ordered(steps).map((step) => ({ step, exact: step.input !== undefined && step.input !== null }));
}

/** The steps, or nothing while they are not whole. */
export function stepsOf(drafts: Draft[]): PlanStep[] | undefined {
  const isWhole = ({ step, exact }: Draft) =>
    step.summary.trim() !== "" && (!exact || !step.capability || isObject(step.input));
  if (drafts.length === 0 || !drafts.every(isWhole)) return undefined;
  return drafts.map(({ step, exact }) => {
    const { input, ...rest } = step;
    return exact && step.capability ? { ...rest, input } : rest;
  });
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Props {
  drafts: Draft[];
  onChange: (drafts: Draft[]) => void;
  /** With pointers into the steps. */
  flaws: Flaw[];
}

export function PlanEditor({ drafts, onChange, flaws }: Props) {
  const [open, setOpen] = useState<string | undefined>(drafts[0]?.step.id);
  const change = (id: string, more: Partial<Draft>) =>
    onChange(drafts.map((draft) => (draft.step.id === id ? { ...draft, ...more } : draft)));
  const remove = (id: string) => {
    const without = (ids: string[] | undefined) => ids?.filter((other) => other !== id);
    const left = drafts.filter((draft) => draft.step.id !== id);
    onChange(
      left.map(({ step, exact }) => ({ step: { ...step, dependsOn: without(step.dependsOn) }, exact })),
    );
  };
  const add = () => {
    const id = unused(drafts);
    const last = drafts.at(-1)?.step.id;
    onChange([...drafts, { step: { id, summary: "", dependsOn: last ? [last] : [] }, exact: false }]);
    setOpen(id);
  };
  return (
    <ol className="plan-editor">
      {drafts.map((draft, nth) => {
        const { step } = draft;
        const name = `step ${nth + 1}`;
        const under = `/${nth}`;
        const own = flaws
          .filter(({ pointer }) => pointer.startsWith(`${under}/`))
          .map((flaw) => ({ ...flaw, pointer: flaw.pointer.slice(under.length) }));
        return (
          <li key={step.id}>
            <p className="step-head">
              <span className="step-summary">
                {nth + 1}. {step.summary || "A new step"}
              </span>
              <IconButton
                name={open === step.id ? `Close ${name}` : `Edit ${name}`}
                className="small"
                aria-expanded={open === step.id}
                onClick={() => setOpen(open === step.id ? undefined : step.id)}
              >
                <Pencil size={14} aria-hidden />
              </IconButton>
              {drafts.length > 1 && (
                <IconButton name={`Take out ${name}`} className="small" onClick={() => remove(step.id)}>
                  <Trash2 size={14} aria-hidden />
                </IconButton>
              )}
            </p>
            {own.map((flaw) => (
              <p className="flaw" key={flaw.pointer}>
                {flaw.pointer.slice(1)}: {flaw.expected}
              </p>
            ))}
            {open === step.id && (
              <StepFields
                draft={draft}
                others={drafts.filter((other) => other.step.id !== step.id)}
                flaws={own}
                onChange={(more) => change(step.id, more)}
              />
            )}
          </li>
        );
      })}
      <li>
        <Button size="small" onClick={add} disabled={drafts.length >= 50}>
          <Plus size={14} aria-hidden /> Add a step
        </Button>
      </li>
    </ol>
  );
}

function unused(drafts: Draft[]): string {
  const names = new Set(drafts.map(({ step }) => step.id));
  let number = drafts.length + 1;
  while (names.has(`step-${number}`)) number += 1;
  return `step-${number}`;
}

interface FieldsProps {
  draft: Draft;
  others: Draft[];
  flaws: Flaw[];
  onChange: (more: Partial<Draft>) => void;
}

function StepFields({ draft: { step, exact }, others, flaws, onChange }: FieldsProps) {
  const { data } = useQuery(tools);
  const set = (more: Partial<PlanStep>) => onChange({ step: { ...step, ...more } });
  const names = new Set(
    data?.tools.map((tool) => tool.capability).filter((name) => name !== "agent.plan.create"),
  );
  if (step.capability) names.add(step.capability);
  const inner = flaws
    .filter(({ pointer }) => pointer.startsWith("/input"))
    .map((flaw) => ({ ...flaw, pointer: flaw.pointer.slice("/input".length) }));
  return (
    <div className="step-fields">
      <label className="field">
        What is done
        <input
          value={step.summary}
          maxLength={500}
          onChange={(event) => set({ summary: event.target.value })}
          autoFocus
        />
      </label>
      <label className="field">
        What for
        <input
          value={step.intent ?? ""}
          maxLength={1000}
          onChange={(event) => set({ intent: event.target.value || undefined })}
        />
      </label>
      <label className="field">
        Tool
        <select
          value={step.capability ?? ""}
          onChange={(event) => set({ capability: event.target.value || undefined, input: undefined })}
        >
          <option value="">None: the agent says or thinks something</option>
          {[...names].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </label>
      {step.capability && (
        <label className="check">
          <input
            type="checkbox"
            checked={exact}
            onChange={(event) =>
              onChange({ exact: event.target.checked, step: { ...step, input: step.input ?? {} } })
            }
          />
          Grant it with exactly these arguments
        </label>
      )}
      {step.capability && exact && (
        <InputEditor
          key={step.capability}
          capability={step.capability}
          value={step.input}
          flaws={inner}
          onChange={(input) => set({ input })}
        />
      )}
      {others.length > 0 && (
        <fieldset className="members">
          <legend>After</legend>
          {others.map(({ step: other }) => (
            <label className="check" key={other.id}>
              <input
                type="checkbox"
                checked={step.dependsOn?.includes(other.id) ?? false}
                onChange={(event) => {
                  const rest = (step.dependsOn ?? []).filter((id) => id !== other.id);
                  set({ dependsOn: event.target.checked ? [...rest, other.id] : rest });
                }}
              />
              {other.summary || "A new step"}
            </label>
          ))}
        </fieldset>
      )}
    </div>
  );
}
