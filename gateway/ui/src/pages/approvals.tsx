/** Everything in the workspace that waits for a person: questions, soonest expiry first, plans, and calls in doubt. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Inbox } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { api, data, type Schema } from "../api/client";
import { me } from "../api/queries";
import { may, useConversations, useInbox } from "../live/workspace";
import { announce } from "../parts/announcer";
import { Button } from "../parts/button";
import { Empty, ErrorNote, Skeleton } from "../parts/states";
import { useTitle } from "../parts/title";
import { ApprovalPanel } from "../questions/approval-panel";
import { PlanPanel } from "../questions/plan-panel";
import { goToQuestion } from "../questions/question-card";
import "../styles/conversation.css";
import { DoubtItem } from "./approvals/doubt-item";
import { MenuButton } from "./shell";

/** Answers in one request at most. */
const MANY = 100;

export function ApprovalsPage() {
  const { approvals, plans, doubts, count, isPending, error, refetch, isCut } = useInbox();
  const { data: who } = useQuery(me);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  useTitle("Approvals");
  useEffect(() => {
    addEventListener("keydown", goToQuestion);
    return () => removeEventListener("keydown", goToQuestion);
  }, []);
  const asked = approvals.filter((item) => chosen.has(item.approvalId));
  const planned = plans.filter((plan) => chosen.has(plan.id));
  const selected = asked.length + planned.length;
  const all = approvals.length + plans.length;
  const answer = useMutation({
    mutationFn: async (decision: Schema["Decision"]) => {
      let refused = 0;
      for (let first = 0; first < asked.length; first += MANY) {
        const answers = asked.slice(first, first + MANY).map(({ approvalId }) => ({ approvalId, decision }));
        const { items } = await data(api.POST("/v1/approvals/resolve", { body: { answers } }));
        refused += items.filter((item) => "problem" in item).length;
      }
      for (const { id, version } of planned) {
        const body = {
          decision: decision === "approve" ? ("approve" as const) : ("reject" as const),
          version,
        };
        const { response } = await api.POST("/v1/plans/{id}/resolve", { params: { path: { id } }, body });
        if (!response.ok) refused += 1;
      }
      return { refused, of: asked.length + planned.length };
    },
    onSuccess: ({ refused, of }) => {
      setChosen(new Set());
      announce(refused > 0 ? `${refused} of ${of} could not be answered.` : `${of} answered.`);
    },
  });
  const choose = (id: string, on: boolean) =>
    setChosen((before) => new Set(on ? [...before, id] : [...before].filter((other) => other !== id)));
  const canAnswer = may(who, "decide");
  const box = (id: string, what: string) =>
    canAnswer &&
    all > 1 && (
      <input
        type="checkbox"
        aria-label={`Choose this ${what}`}
        checked={chosen.has(id)}
        onChange={(event) => choose(id, event.target.checked)}
      />
    );

  return (
    <>
      <header className="page-head">
        <MenuButton />
        <h1 className="title">Approvals</h1>
        <span className="grow" />
        {canAnswer && all > 1 && (
          <label className="check">
            <input
              type="checkbox"
              checked={selected === all}
              onChange={(event) =>
                setChosen(
                  new Set(
                    event.target.checked
                      ? [...approvals.map((item) => item.approvalId), ...plans.map((plan) => plan.id)]
                      : [],
                  ),
                )
              }
            />
            All
          </label>
        )}
        {selected > 0 && (
          <>
            <Button
              size="small"
              look="primary"
              busy={answer.isPending}
              onClick={() => answer.mutate("approve")}
            >
              Approve {selected}
            </Button>
            <Button size="small" look="danger" busy={answer.isPending} onClick={() => answer.mutate("deny")}>
              Deny {selected}
            </Button>
          </>
        )}
      </header>
      <div className="page-body" tabIndex={0} role="region" aria-label="Open approvals">
        {answer.error && <ErrorNote error={answer.error} />}
        {error && <ErrorNote error={error} retry={refetch} />}
        {isPending && <Skeleton lines={5} />}
        {!isPending && !error && count === 0 && (
          <Empty icon={<Inbox size={36} aria-hidden />} title="Nothing waits for you">
            <p>
              When an agent asks before it acts, or puts a plan to you, the question comes here and into its
              conversation.
            </p>
          </Empty>
        )}
        {isCut && <p className="note">There are more; those that are most urgent are shown.</p>}
        {approvals.map((item) => (
          <InboxItem key={item.approvalId} conversation={item.conversationId}>
            <ApprovalPanel
              approval={{ ...item, id: item.approvalId, rule: item.policyRule }}
              before={box(item.approvalId, "question")}
            />
          </InboxItem>
        ))}
        {plans.map((plan) => (
          <InboxItem key={plan.id} conversation={plan.conversationId}>
            <PlanPanel plan={plan} goesOn before={box(plan.id, "plan")} />
          </InboxItem>
        ))}
        {doubts.map(({ callId, row }) => (
          <DoubtItem key={callId} callId={callId} row={row} />
        ))}
      </div>
    </>
  );
}

/** A question under a link to the conversation that waits for it. */
export function InboxItem({ conversation, children }: { conversation?: string; children: ReactNode }) {
  const { items } = useConversations();
  const title = items.find((item) => item.conversationId === conversation)?.title;
  return (
    <div className="inbox-item">
      {conversation && (
        <p className="small">
          <Link to="/c/$id" params={{ id: conversation }}>
            {title || "Its conversation"}
          </Link>
        </p>
      )}
      {children}
    </div>
  );
}
