/** How a turn ended when it did not end well. */
import { CircleSlash, CircleX } from "lucide-react";
import type { BlockOf } from "./block";

export function ErrorBlock({ block: { error, turn } }: { block: BlockOf<"error"> }) {
  const cancelled = turn.status === "cancelled";
  return (
    <div className={cancelled ? "note" : "note bad"}>
      {cancelled ? <CircleSlash size={18} aria-hidden /> : <CircleX size={18} aria-hidden />}
      <p>
        <strong>{cancelled ? "Stopped" : "The turn failed"}</strong>: {error.message}.
        {!cancelled && (
          <>
            {" "}
            <a href={`/docs/errors/${error.code}`} target="_blank" rel="noopener">
              What does <code>{error.code}</code> mean?
            </a>
          </>
        )}
      </p>
    </div>
  );
}
