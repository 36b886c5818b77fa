/** A call whose outcome nobody knows: said plainly, without a guess. */
import { TriangleAlert } from "lucide-react";
import type { Call } from "../history/model";

export function InDoubt({ call }: { call: Call }) {
  return (
    <div className="note warn" role="group" aria-label="Outcome unknown">
      <TriangleAlert size={18} aria-hidden />
      <div>
        <p>
          <strong>This may or may not have happened.</strong> {call.error?.message}
        </p>
        <p>
          It had started, and it was not run again, because it might then happen twice. The agent was told the
          same. Look at what the call was to change before you ask for it anew; if its result still arrives,
          it appears here.
        </p>
      </div>
    </div>
  );
}
