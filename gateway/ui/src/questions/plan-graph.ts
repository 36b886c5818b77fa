/** Where the lines of a plan run: from each step down to those that wait for it. */
import type { PlanStep } from "../history/model";

/** A step's row, with the lines beside it. Lane 0 is the steps' own column. */
export interface Row {
  step: PlanStep;
  /** From 1, as it is shown. */
  number: number;
  /** Numbers of the steps that it waits for. */
  after: number[];
  /** Lanes from above that end in the step. */
  into: number[];
  /** Lanes that begin in it. */
  from: number[];
  /** Lanes that go by. */
  past: number[];
}

export interface Graph {
  rows: Row[];
  /** How many lanes there are beside the steps' own column. */
  lanes: number;
}

/** The steps so that each comes after what it waits for, else in the order of the plan. */
export function ordered(steps: PlanStep[]): PlanStep[] {
  const left = [...steps];
  const known = new Set(steps.map((step) => step.id));
  const done = new Set<string>();
  const found: PlanStep[] = [];
  while (left.length > 0) {
    const isReady = (step: PlanStep) => (step.dependsOn ?? []).every((id) => done.has(id) || !known.has(id));
    // A circle is no plan; should one come, its steps follow as they are.
    const at = Math.max(0, left.findIndex(isReady));
    const [step] = left.splice(at, 1);
    if (!step) break;
    done.add(step.id);
    found.push(step);
  }
  return found;
}

export function graphOf(steps: PlanStep[]): Graph {
  const all = ordered(steps);
  const place = new Map(all.map((step, row) => [step.id, row]));
  const rows = all.map((step, row): Row => {
    const after = (step.dependsOn ?? []).flatMap((id) => place.get(id) ?? []).sort((a, b) => a - b);
    return { step, number: row + 1, after: after.map((row) => row + 1), into: [], from: [], past: [] };
  });
  // Until which row each lane is taken.
  const taken: number[] = [];
  rows.forEach((row, source) => {
    const targets = rows.flatMap((other, target) => (other.after.includes(row.number) ? [target] : []));
    const far = targets.filter((target) => target > source + 1);
    if (targets.includes(source + 1)) draw(rows, source, [source + 1], 0);
    if (far.length === 0) return;
    const end = Math.max(...far);
    const free = taken.findIndex((until) => until <= source);
    const lane = free < 0 ? taken.length : free;
    taken[lane] = end;
    draw(rows, source, far, lane + 1);
  });
  return { rows, lanes: taken.length };
}

function draw(rows: Row[], source: number, targets: number[], lane: number) {
  const end = Math.max(...targets);
  rows[source]?.from.push(lane);
  for (const target of targets) rows[target]?.into.push(lane);
  for (const row of rows.slice(source + 1, end)) row.past.push(lane);
}
