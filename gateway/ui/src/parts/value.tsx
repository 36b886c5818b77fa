/** Any JSON value, readable. */
import { Code } from "./code";

export function Value({ value, label }: { value: unknown; label?: string }) {
  if (typeof value === "string") return <Code code={value} label={label ?? "text"} />;
  return <Code code={JSON.stringify(value, null, 2) ?? "nothing"} language="json" label={label} />;
}
