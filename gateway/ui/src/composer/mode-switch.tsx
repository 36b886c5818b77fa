/** Whether the agent acts on the next message, or plans first and waits. */
import { useId } from "react";
import { type Store, useStore } from "../live/store";
import { Hint } from "../parts/button";
import type { Draft } from "./draft";

const MODES = [
  { mode: "act", name: "Act", hint: "The agent acts, and asks where it must (Alt+P changes it)" },
  {
    mode: "plan",
    name: "Plan",
    hint: "The agent only reads, and puts a plan to you first (Alt+P changes it)",
  },
] as const;

export function ModeSwitch({ draft: store }: { draft: Store<Draft> }) {
  const draft = useStore(store);
  const group = useId();
  return (
    <div className="segments" role="radiogroup" aria-label="Mode" aria-keyshortcuts="Alt+P">
      {MODES.map(({ mode, name, hint }) => (
        <Hint key={mode} text={hint}>
          <label>
            <input
              type="radio"
              name={group}
              checked={draft.mode === mode}
              onChange={() => store.set({ ...store.get(), mode })}
            />
            {name}
          </label>
        </Hint>
      ))}
    </div>
  );
}
