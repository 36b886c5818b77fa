/** Rules and conditions of a policy, in words. */
import type { Schema } from "../../api/client";
import { Badge, type Tone } from "../../parts/badge";

const TESTS: Record<Schema["Test"], string> = {
  equals: "is",
  not_equals: "is not",
  in: "is one of",
  matches: "fits",
  not_matches: "does not fit",
  above: "is above",
  below: "is below",
  exists: "is given:",
};

export function ConditionList({ when }: { when: Schema["Condition"][] }) {
  if (when.length === 0) return <p className="muted small">Whatever its arguments are.</p>;
  return (
    <ul className="conditions small">
      {when.map(({ pointer, test, value }) => (
        <li key={`${pointer} ${test}`}>
          where <code>{pointer || "/"}</code> {TESTS[test]} <code>{JSON.stringify(value)}</code>
        </li>
      ))}
    </ul>
  );
}

const EFFECTS: Record<Schema["RuleEffect"], { words: string; tone: Tone }> = {
  deny: { words: "deny", tone: "bad" },
  always_ask: { words: "always ask", tone: "warn" },
  ask: { words: "ask", tone: "warn" },
  allow: { words: "allow", tone: "good" },
};

/** In the order in which they are asked. */
const ORDER = ["deny", "always_ask", "ask", "allow"] as const;

export function RuleList({ rules }: { rules: Schema["Rule"][] }) {
  if (rules.length === 0) return <p className="muted">No rules: each tool's own question stands.</p>;
  const sorted = [...rules].sort((a, b) => ORDER.indexOf(a.effect) - ORDER.indexOf(b.effect));
  return (
    <ul className="rows">
      {sorted.map((rule) => (
        <li key={rule.name}>
          <p className="row-head">
            <Badge tone={EFFECTS[rule.effect].tone}>{EFFECTS[rule.effect].words}</Badge>
            <strong>{rule.name}</strong>
            <code>{rule.capability}</code>
            {rule.approval && <Terms terms={rule.approval} />}
          </p>
          <ConditionList when={rule.when ?? []} />
          {rule.reason && <p className="small">“{rule.reason}”</p>}
        </li>
      ))}
    </ul>
  );
}

/** What it takes to approve. */
export function Terms({ terms }: { terms: Schema["ApprovalTerms"] }) {
  const { needed = 1, roles = [], excludeRequester = false } = terms;
  const words = [
    needed === 1 ? "one person" : `${needed} people`,
    roles.length > 0 && `of the role ${roles.join(" or ")}`,
    excludeRequester && "not the one for whom it is",
  ];
  return <span className="muted small">{words.filter(Boolean).join(", ")}</span>;
}
