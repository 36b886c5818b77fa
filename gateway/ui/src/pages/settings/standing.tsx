/** Answers that people let stand for later calls, and taking them back. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { BadgeCheck } from "lucide-react";
import { useState } from "react";
import { api, data, type Schema } from "../../api/client";
import { me, queryClient, standing } from "../../api/queries";
import { may } from "../../live/workspace";
import { Badge } from "../../parts/badge";
import { Button } from "../../parts/button";
import { Empty, ErrorNote, Skeleton } from "../../parts/states";
import { When } from "../../parts/time";
import { useWho } from "../../parts/who";
import { ConditionList } from "./rules";

export function StandingSection() {
  const { data: page, error, isPending, refetch } = useQuery(standing);
  return (
    <>
      <p className="muted">
        Where somebody answered “do not ask again”, a call that fits runs without a question. Rules that deny
        or always ask still hold.
      </p>
      {error && <ErrorNote error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton />}
      {page?.items.length === 0 && (
        <Empty icon={<BadgeCheck size={32} aria-hidden />} title="No answer stands">
          <p>Choose “Remember” when you approve a call, and it is listed here.</p>
        </Empty>
      )}
      <ul className="rows">
        {page?.items.map((item) => (
          <StandingItem key={item.standingApprovalId} item={item} />
        ))}
      </ul>
    </>
  );
}

function StandingItem({ item }: { item: Schema["StandingApproval"] }) {
  const { data: who } = useQuery(me);
  const by = useWho(item.madeBy);
  const [sure, setSure] = useState(false);
  const { covers } = item;
  const revoke = useMutation({
    mutationFn: () =>
      data(api.DELETE("/v1/standing-approvals/{id}", { params: { path: { id: item.standingApprovalId } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: standing.queryKey }),
  });
  return (
    <li>
      <p className="row-head">
        <code>{covers.capability}</code>
        <Badge tone={covers.kind === "exact" ? "neutral" : "info"}>
          {covers.kind === "exact" ? "exact arguments" : "pattern"}
        </Badge>
        <span className="grow" />
        {may(who, "decide") &&
          (sure ? (
            <>
              <Button size="small" onClick={() => setSure(false)}>
                Keep
              </Button>
              <Button size="small" look="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
                Ask again from now on
              </Button>
            </>
          ) : (
            <Button size="small" onClick={() => setSure(true)}>
              Take back
            </Button>
          ))}
      </p>
      {covers.kind === "exact" ? (
        <p className="muted small">
          The arguments with the digest{" "}
          <code title={covers.inputDigest}>{covers.inputDigest.slice(0, 12)}…</code>
        </p>
      ) : (
        <ConditionList when={covers.when ?? []} />
      )}
      <p className="muted small">
        Given by {by} · <When at={item.madeAt} />
      </p>
      {revoke.error && <ErrorNote error={revoke.error} />}
    </li>
  );
}
