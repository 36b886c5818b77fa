/** Which agent, which model, and limits that the turn stops at. */
import { useQuery } from "@tanstack/react-query";
import { SlidersHorizontal } from "lucide-react";
import { Popover } from "radix-ui";
import type { Schema } from "../api/client";
import { agents } from "../api/queries";
import { type Store, useStore } from "../live/store";
import { Button } from "../parts/button";
import type { Draft } from "./draft";

const LIMITS: { field: keyof Schema["Budget"]; label: string; max?: number; hint: string }[] = [
  { field: "maxSteps", label: "Model calls", max: 500, hint: "50" },
  { field: "maxToolCalls", label: "Tool calls", max: 1000, hint: "200" },
  { field: "maxTokens", label: "Tokens", hint: "no limit" },
  { field: "maxWallSeconds", label: "Seconds", hint: "no limit" },
];

const OPTIONS = "Options";

function summary(draft: Draft, agent: string | undefined): string {
  const limits = Object.keys(draft.budget).length;
  const parts = [agent, draft.model.trim(), limits > 0 && `${limits} ${limits === 1 ? "limit" : "limits"}`];
  return parts.filter(Boolean).join(" · ") || OPTIONS;
}

export function Options({ draft: store }: { draft: Store<Draft> }) {
  const draft = useStore(store);
  const { data } = useQuery(agents);
  const all = data?.items ?? [];
  const set = (change: Partial<Draft>) => store.set({ ...store.get(), ...change });
  const limit = (field: keyof Schema["Budget"], text: string) => {
    const { [field]: _, ...budget } = store.get().budget;
    const value = Number.parseInt(text, 10);
    set({ budget: value > 0 ? { ...budget, [field]: value } : budget });
  };
  const chosen = all.find((agent) => agent.agentId === draft.agentId);
  const words = summary(draft, chosen?.name);
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <Button
          look="quiet"
          size="small"
          className="options-button"
          aria-label={words === OPTIONS ? OPTIONS : `${OPTIONS}: ${words}`}
        >
          <SlidersHorizontal size={15} aria-hidden /> <span className="words">{words}</span>
        </Button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          aria-label="Options"
          className="popover options"
          align="start"
          side="top"
          sideOffset={8}
          collisionPadding={12}
        >
          {all.length > 1 && (
            <label className="field">
              Agent
              <select value={draft.agentId} onChange={(event) => set({ agentId: event.target.value })}>
                <option value="">The workspace's own</option>
                {all.map((agent) => (
                  <option key={agent.agentId} value={agent.agentId}>
                    {agent.name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label className="field">
            Model
            <input
              value={draft.model}
              placeholder="the runtime's default"
              onChange={(event) => set({ model: event.target.value })}
              spellCheck={false}
            />
          </label>
          <fieldset>
            <legend>Stop the turn at</legend>
            {LIMITS.map(({ field, label, max, hint }) => (
              <label className="field" key={field}>
                {label}
                <input
                  type="number"
                  min={1}
                  max={max}
                  inputMode="numeric"
                  placeholder={hint}
                  value={draft.budget[field] ?? ""}
                  onChange={(event) => limit(field, event.target.value)}
                />
              </label>
            ))}
          </fieldset>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
