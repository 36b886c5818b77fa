/** Whether an answer is to stand for later calls, and for which. */
import { useId } from "react";
import type { Schema } from "../api/client";
import { fields } from "../tools/fields";

/** Nothing, the very same arguments, or whatever agrees with these arguments. */
export type Remembered = "once" | "exact" | { capability: string; arguments: string[] };

interface Props {
  capability: string;
  input: unknown;
  value: Remembered;
  onChange: (value: Remembered) => void;
}

/** Arguments that a person can read at a glance. */
const SHORT = 60;

export function Remember({ capability, input, value, onChange }: Props) {
  const group = useId();
  const isPattern = typeof value === "object";
  const short = Object.entries(fields(input)).filter(([, argument]) => isShort(argument));
  return (
    <fieldset className="remember">
      <legend>Next time</legend>
      <Choice group={group} checked={value === "once"} onChoose={() => onChange("once")}>
        Ask me again
      </Choice>
      <Choice group={group} checked={value === "exact"} onChoose={() => onChange("exact")}>
        Do not ask for exactly these arguments
      </Choice>
      <Choice
        group={group}
        checked={isPattern}
        onChoose={() => onChange({ capability, arguments: short.map(([name]) => name) })}
      >
        Do not ask for calls like this one
      </Choice>
      {isPattern && (
        <div className="pattern">
          <label className="field">
            Tools
            <input
              className="mono"
              value={value.capability}
              onChange={(event) => onChange({ ...value, capability: event.target.value })}
            />
          </label>
          {short.map(([name, argument]) => (
            <label className="check" key={name}>
              <input
                type="checkbox"
                checked={value.arguments.includes(name)}
                onChange={(event) => {
                  const others = value.arguments.filter((other) => other !== name);
                  onChange({ ...value, arguments: event.target.checked ? [...others, name] : others });
                }}
              />
              <span>
                where <code>{name}</code> is <code>{JSON.stringify(argument)}</code>
              </span>
            </label>
          ))}
          <p className="muted small">
            {value.arguments.length === 0
              ? "Whatever the arguments are: no such call is asked about any more."
              : "All other arguments may be anything."}
          </p>
        </div>
      )}
    </fieldset>
  );
}

function Choice({
  group,
  checked,
  onChoose,
  children,
}: {
  group: string;
  checked: boolean;
  onChoose: () => void;
  children: string;
}) {
  return (
    <label className="check">
      <input type="radio" name={group} checked={checked} onChange={onChoose} />
      {children}
    </label>
  );
}

function isShort(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value) && JSON.stringify(value).length <= SHORT;
}

/** As the API takes it. */
export function toRemember(value: Remembered, input: unknown): Schema["ToRemember"] | null {
  if (value === "once") return null;
  if (value === "exact") return true;
  const known = fields(input);
  return {
    capability: value.capability.trim() || null,
    when: value.arguments.map((name) => ({
      pointer: `/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`,
      test: "equals" as const,
      value: known[name],
    })),
  };
}
