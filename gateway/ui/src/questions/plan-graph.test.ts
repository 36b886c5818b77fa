import { describe, expect, it } from "vitest";
import { graphOf, ordered } from "./plan-graph";

const step = (id: string, ...dependsOn: string[]) => ({ id, summary: id, dependsOn });

describe("a plan's lines", () => {
  it("puts each step after what it waits for", () => {
    const names = ordered([step("c", "a", "b"), step("a"), step("b", "a")]).map(({ id }) => id);
    expect(names).toEqual(["a", "b", "c"]);
  });

  it("draws neighbours in the steps' own column and the others beside it", () => {
    const { rows, lanes } = graphOf([step("a"), step("b", "a"), step("c", "a", "b")]);
    expect(lanes).toBe(1);
    expect(rows.map(({ from, into, past }) => ({ from, into, past }))).toEqual([
      { from: [0, 1], into: [], past: [] },
      { from: [0], into: [0], past: [1] },
      { from: [], into: [1, 0], past: [] },
    ]);
    expect(rows.map(({ after }) => after)).toEqual([[], [1], [1, 2]]);
  });

  it("uses a lane again once it is free", () => {
    const chain = [step("a"), step("b"), step("c", "a"), step("d"), step("e", "c")];
    expect(graphOf(chain).lanes).toBe(1);
    expect(graphOf([step("a"), step("b"), step("c", "a"), step("d", "b")]).lanes).toBe(2);
  });

  it("outlives a circle and a step that is not there", () => {
    expect(graphOf([step("a", "b"), step("b", "a"), step("c", "nowhere")]).rows).toHaveLength(3);
  });
});
