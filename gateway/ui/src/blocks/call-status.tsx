import { CircleCheck, CircleDashed, CircleHelp, CircleSlash, CircleX, Hand } from "lucide-react";
import type { Call, CallStatus } from "../history/model";
import { Spinner } from "../parts/states";

export function CallStatusIcon({ status }: { status: CallStatus }) {
  const props = { size: 18, "aria-hidden": true, className: `status ${status}` };
  switch (status) {
    case "requested":
      return <CircleDashed {...props} />;
    case "held":
      return <Hand {...props} />;
    case "cleared":
    case "started":
      return <Spinner />;
    case "completed":
      return <CircleCheck {...props} />;
    case "failed":
      return <CircleX {...props} />;
    case "cancelled":
    case "denied":
      return <CircleSlash {...props} />;
    case "in_doubt":
      return <CircleHelp {...props} />;
  }
}

const WORDS: Record<CallStatus, string> = {
  requested: "requested",
  held: "waits for approval",
  cleared: "about to start",
  started: "running",
  completed: "done",
  failed: "failed",
  cancelled: "cancelled",
  denied: "denied",
  in_doubt: "outcome unknown",
};

export function statusWords(call: Call): string {
  return WORDS[call.status];
}
