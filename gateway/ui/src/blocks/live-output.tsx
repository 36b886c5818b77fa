/** What a running tool prints, as it prints it. */
import { useEffect, useRef } from "react";
import type { Call } from "../history/model";

export function LiveOutput({ call }: { call: Call }) {
  const end = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (end.current) end.current.scrollTop = end.current.scrollHeight;
  }, [call.printed]);
  return (
    <pre ref={end} className="live-output" role="log" aria-live="off" aria-label="Live output" tabIndex={0}>
      {call.printed.length === 0 && (
        <span className="muted">
          {call.settled
            ? "Running again. What it prints comes with its end."
            : "Running. Nothing printed yet."}
        </span>
      )}
      {call.printed.map((piece, index) => (
        <span key={index} className={piece.channel}>
          {piece.text}
        </span>
      ))}
    </pre>
  );
}
