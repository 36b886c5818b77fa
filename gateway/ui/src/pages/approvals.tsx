/** Everything in the workspace that waits for a person, soonest expiry first. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Inbox } from "lucide-react";
import { useState } from "react";
import { api, data, type Schema } from "../api/client";
import { me } from "../api/queries";
import { may, useApprovals, useConversations } from "../live/workspace";
import { announce } from "../parts/announcer";
import { ApprovalPanel } from "../parts/approval-panel";
import { Button } from "../parts/button";
import { Empty, ErrorNote, Skeleton } from "../parts/states";
import { useTitle } from "../parts/title";
import "../styles/conversation.css";
import { MenuButton } from "./shell";

export function ApprovalsPage() {
  const { items, data: page, isPending, error, refetch } = useApprovals();
  const { items: conversations } = useConversations();
  const titles = new Map(conversations.map((item) => [item.conversationId, item.title]));
  const { data: who } = useQuery(me);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useTitle("Approvals");
  const selected = items.filter((item) => chosen.has(item.approvalId)).map((item) => item.approvalId);
  const answer = useMutation({
    mutationFn: (decision: Schema["Decision"]) =>
      data(
        api.POST("/v1/approvals/resolve", {
          body: { answers: selected.map((approvalId) => ({ approvalId, decision })) },
        }),
      ),
    onSuccess: ({ items }) => {
      setChosen(new Set());
      const refused = items.filter((item) => "problem" in item).length;
      announce(
        refused > 0 ? `${refused} of ${items.length} could not be answered.` : `${items.length} answered.`,
      );
    },
  });
  const choose = (id: string, on: boolean) =>
    setChosen((before) => new Set(on ? [...before, id] : [...before].filter((other) => other !== id)));
  const canAnswer = may(who, "decide");

  return (
    <>
      <header className="page-head">
        <MenuButton />
        <h1 className="title">Approvals</h1>
        <span className="grow" />
        {canAnswer && items.length > 1 && (
          <label className="check">
            <input
              type="checkbox"
              checked={selected.length === items.length}
              onChange={(event) =>
                setChosen(new Set(event.target.checked ? items.map((item) => item.approvalId) : []))
              }
            />
            All
          </label>
        )}
        {selected.length > 0 && (
          <>
            <Button
              size="small"
              look="primary"
              busy={answer.isPending}
              onClick={() => answer.mutate("approve")}
            >
              Approve {selected.length}
            </Button>
            <Button size="small" look="danger" busy={answer.isPending} onClick={() => answer.mutate("deny")}>
              Deny {selected.length}
            </Button>
          </>
        )}
      </header>
      <div className="page-body" tabIndex={0} role="region" aria-label="Open approvals">
        {answer.error && <ErrorNote error={answer.error} />}
        {error && <ErrorNote error={error} retry={() => void refetch()} />}
        {isPending && <Skeleton lines={5} />}
        {!isPending && !error && items.length === 0 && (
          <Empty icon={<Inbox size={36} aria-hidden />} title="Nothing waits for you">
            <p>When an agent asks before it acts, the question comes here and into its conversation.</p>
          </Empty>
        )}
        {page?.nextCursor && <p className="note">There are more; those that expire soonest are shown.</p>}
        {items.map((item) => (
          <div className="inbox-item" key={item.approvalId}>
            {item.conversationId && (
              <p className="small">
                <Link to="/c/$id" params={{ id: item.conversationId }}>
                  {titles.get(item.conversationId) || "Its conversation"}
                </Link>
              </p>
            )}
            <ApprovalPanel
              approval={{ ...item, id: item.approvalId, rule: item.policyRule }}
              before={
                canAnswer &&
                items.length > 1 && (
                  <input
                    type="checkbox"
                    aria-label="Choose this question"
                    checked={chosen.has(item.approvalId)}
                    onChange={(event) => choose(item.approvalId, event.target.checked)}
                  />
                )
              }
            />
          </div>
        ))}
      </div>
    </>
  );
}
