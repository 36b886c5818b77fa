/** What the policy would say to a call, and why. Nothing is called. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "../../api/client";
import { tools } from "../../api/queries";
import { Badge, type Tone } from "../../parts/badge";
import { Button } from "../../parts/button";
import { ErrorNote } from "../../parts/states";
import { flawsIn } from "../../questions/approval-panel";
import { InputEditor } from "../../questions/input-editor";
import { Terms } from "./rules";

const ROLES = ["owner", "admin", "member", "service", "viewer"] as const;
const DECISIONS: Record<string, { words: string; tone: Tone }> = {
  allow: { words: "It would run", tone: "good" },
  ask: { words: "A person would be asked", tone: "warn" },
  deny: { words: "It would be denied", tone: "bad" },
};

export function Explain() {
  const { data: list } = useQuery(tools);
  const [capability, setCapability] = useState("agent.code.execute");
  const [input, setInput] = useState<unknown>({ language: "python", code: "print(1)" });
  const [mode, setMode] = useState<Schema["Mode"]>("act");
  const [role, setRole] = useState<Schema["Role"]>();
  const explain = useMutation({
    mutationFn: () =>
      data(
        api.POST("/v1/policy/explain", {
          body: { capability, input: input as Record<string, unknown>, mode, role: role ?? null },
        }),
      ),
  });
  const flaws = flawsIn(explain.error, "/input");
  return (
    <form
      className="panel"
      aria-label="Explain"
      onSubmit={(event) => {
        event.preventDefault();
        explain.mutate();
      }}
    >
      <p>
        <strong>What would it say to a call?</strong>
      </p>
      <div className="inline">
        <label className="field">
          Tool
          <select
            value={capability}
            onChange={(event) => {
              setCapability(event.target.value);
              setInput({});
            }}
          >
            {(list?.tools ?? [{ capability }]).map((tool) => (
              <option key={tool.capability}>{tool.capability}</option>
            ))}
          </select>
        </label>
        <label className="field">
          For the role
          <select
            value={role ?? ""}
            onChange={(event) => setRole((event.target.value || undefined) as Schema["Role"] | undefined)}
          >
            <option value="">My own</option>
            {ROLES.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        </label>
        <label className="field">
          In the mode
          <select value={mode} onChange={(event) => setMode(event.target.value as Schema["Mode"])}>
            <option value="act">act</option>
            <option value="plan">plan</option>
          </select>
        </label>
      </div>
      <InputEditor key={capability} capability={capability} value={input} onChange={setInput} flaws={flaws} />
      <footer>
        <Button look="primary" type="submit" busy={explain.isPending} disabled={typeof input !== "object"}>
          Explain
        </Button>
      </footer>
      {explain.error && flaws.length === 0 && <ErrorNote error={explain.error} />}
      {explain.data && <Explained explained={explain.data} />}
    </form>
  );
}

function Explained({ explained }: { explained: Schema["Explanation"] }) {
  const { decision, rule, reason, passed, approval, version } = explained;
  const { words, tone } = DECISIONS[decision] ?? { words: decision, tone: "neutral" };
  return (
    <div className="explained" role="status">
      <p className="row-head">
        <Badge tone={tone}>{words}</Badge>
        <span>
          by <code>{rule}</code>
        </span>
        <span className="muted small">policy version {version}</span>
      </p>
      {reason && <p>{reason}</p>}
      {approval && (
        <p>
          It takes <Terms terms={approval} />
        </p>
      )}
      {passed.length > 0 && <p className="muted small">Passed before: {passed.join(" → ")}</p>}
    </div>
  );
}
