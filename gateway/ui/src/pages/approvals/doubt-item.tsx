/** A call in doubt, in the inbox: what it was to do, and how it is settled. */
import { useQuery } from "@tanstack/react-query";
import type { Schema } from "../../api/client";
import { call } from "../../api/queries";
import { FullValue } from "../../blocks/full-value";
import { InDoubt } from "../../blocks/in-doubt";
import { RiskBadge } from "../../parts/badge";
import { ErrorNote, Skeleton } from "../../parts/states";
import { toolView } from "../../tools/tool-view";
import { InboxItem } from "../approvals";

export function DoubtItem({ callId, row }: { callId: string; row?: Schema["ToolCall"] }) {
  const { data = row, error, refetch } = useQuery({ ...call(callId), enabled: row === undefined });
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton />;
  const view = toolView(data.capability);
  const { startedAt, attempt } = data;
  return (
    <InboxItem conversation={data.conversationId}>
      <section
        className="card tool-call"
        data-status="in_doubt"
        aria-label={`In doubt: ${view.title(data.input)}`}
      >
        <header>
          <h3>{view.title(data.input)}</h3>
          <span className="facts">
            <RiskBadge risk={data.riskLevel} />
          </span>
        </header>
        <InDoubt call={{ id: callId, startedAt, attempt, error: data.error }} />
        <div className="body">
          <FullValue value={data.input} digest={data.inputRef}>
            {(input) => <view.Arguments input={input} />}
          </FullValue>
        </div>
      </section>
    </InboxItem>
  );
}
