/** `agent.tool.list`: which tools there are. */
import { RiskBadge } from "../parts/badge";
import { Value } from "../parts/value";
import { fields } from "./fields";
import type { ToolView } from "./tool-view";

function listed(output: unknown): Record<string, unknown>[] | undefined {
  const { tools } = fields(output);
  return Array.isArray(tools) ? tools.map(fields) : undefined;
}

function Result({ output }: { output: unknown }) {
  const tools = listed(output);
  if (!tools) return <Value value={output} label="result" />;
  return (
    <ul className="tool-names">
      {tools.map((tool) => (
        <li key={String(tool.name)}>
          <code>{String(tool.capability ?? tool.name)}</code>
          {typeof tool.risk === "string" && <RiskBadge risk={tool.risk} />}
          <p>{String(tool.description ?? "")}</p>
        </li>
      ))}
    </ul>
  );
}

export const toolList: ToolView = {
  title: () => "List the tools",
  gist: (output) => {
    const count = listed(output)?.length;
    return count === undefined ? undefined : `${count} ${count === 1 ? "tool" : "tools"}`;
  },
  Arguments: ({ input }) =>
    Object.keys(fields(input)).length > 0 ? (
      <Value value={input} label="arguments" />
    ) : (
      <p className="muted">No arguments.</p>
    ),
  Result,
};
