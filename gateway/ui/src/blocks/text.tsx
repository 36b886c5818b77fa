import { Markdown } from "../parts/markdown";
import type { BlockOf } from "./block";

export function TextBlock({ block }: { block: BlockOf<"text"> }) {
  return <Markdown text={block.text} streaming={block.streaming} />;
}
