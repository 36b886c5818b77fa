/** How a tool's calls are shown. A tool without a view of its own is shown by its JSON. */
import type { ComponentType } from "react";
import { codeExecute } from "./code-execute";
import { plain } from "./plain";
import { toolList } from "./tool-list";

export interface ToolView {
  /** What the call does, as a short sentence. */
  title(input: unknown): string;
  /** One line about the result, for a card that is closed. */
  gist(output: unknown): string | undefined;
  Arguments: ComponentType<{ input: unknown }>;
  Result: ComponentType<{ output: unknown }>;
}

/** A tool's own view is a file and a line here. */
const VIEWS: Record<string, ToolView> = {
  "agent.code.execute": codeExecute,
  "agent.tool.list": toolList,
};

export function toolView(capability: string): ToolView {
  return VIEWS[capability] ?? plain(capability);
}
