/** What the model thought: open while it thinks, folded away when it has answered. */
import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Markdown } from "../parts/markdown";
import type { BlockOf } from "./block";

export function ReasoningBlock({ block }: { block: BlockOf<"reasoning"> }) {
  const [chosen, choose] = useState<boolean>();
  const open = chosen ?? block.streaming;
  return (
    <div className="reasoning" data-open={open || undefined}>
      <button type="button" className="fold" aria-expanded={open} onClick={() => choose(!open)}>
        <ChevronRight size={15} aria-hidden />
        {block.streaming ? <span className="shimmer">Thinking</span> : "Thoughts"}
      </button>
      {open && <Markdown text={block.text} streaming={block.streaming} />}
    </div>
  );
}
