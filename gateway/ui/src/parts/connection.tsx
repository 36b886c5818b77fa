/** How the page stands to the server, honestly. */
import type { Connection } from "../api/stream";
import { Hint } from "./button";

const WORDS: Record<Connection["state"], string> = {
  connecting: "Connecting…",
  "catching-up": "Catching up…",
  live: "Live",
  resting: "Resting",
  offline: "Offline",
  refused: "Refused",
};

export function ConnectionState({ connection, brief }: { connection: Connection; brief?: boolean }) {
  const why =
    connection.state === "offline"
      ? `${connection.why} Trying again; nothing is lost.`
      : connection.state === "refused"
        ? connection.problem.message
        : WORDS[connection.state];
  return (
    <Hint text={why}>
      <span className={`connection ${connection.state}`} role="status">
        <i aria-hidden />
        <span className={brief && connection.state === "live" ? "unseen" : undefined}>
          {WORDS[connection.state]}
        </span>
      </span>
    </Hint>
  );
}
