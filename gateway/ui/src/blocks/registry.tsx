/** How each kind of block looks. A new kind is a file and a line here. */
import type { ComponentType } from "react";
import { ApprovalBlock } from "./approval";
import type { Block, BlockOf } from "./block";
import { DraftBlock } from "./draft";
import { ErrorBlock } from "./error";
import { PlanBlock } from "./plan";
import { ReasoningBlock } from "./reasoning";
import { StepFailedBlock } from "./step-failed";
import { TextBlock } from "./text";
import { ToolCallBlock } from "./tool-call";

const KINDS: { [K in Block["kind"]]: ComponentType<{ block: BlockOf<K> }> } = {
  reasoning: ReasoningBlock,
  text: TextBlock,
  draft: DraftBlock,
  tool_call: ToolCallBlock,
  approval: ApprovalBlock,
  plan: PlanBlock,
  step_failed: StepFailedBlock,
  error: ErrorBlock,
};

export function BlockView({ block }: { block: Block }) {
  const View = KINDS[block.kind] as ComponentType<{ block: Block }>;
  return <View block={block} />;
}
