import { Value } from "../parts/value";
import type { ToolView } from "./tool-view";

/** `mcp.server.some_tool` as words. */
function words(capability: string): string {
  return capability.replace(/^agent\./, "").replace(/[._]/g, " ");
}

export function plain(capability: string): ToolView {
  return {
    title: () => `Call ${words(capability)}`,
    gist: () => undefined,
    Arguments: ({ input }) => <Value value={input} label="arguments" />,
    Result: ({ output }) => <Value value={output} label="result" />,
  };
}
