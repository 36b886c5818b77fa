import { RotateCw } from "lucide-react";
import type { BlockOf } from "./block";

export function StepFailedBlock({ block }: { block: BlockOf<"step_failed"> }) {
  const { attempt, failure } = block.step;
  return (
    <div className="note warn">
      <RotateCw size={18} aria-hidden />
      <p>
        Attempt {attempt} did not come through: {failure?.message}
        {failure?.retryable && " It is tried again."}
      </p>
    </div>
  );
}
