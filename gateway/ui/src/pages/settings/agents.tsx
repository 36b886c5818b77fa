/** The workspace's agents; a new version of one is used by turns that start from then on. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "../../api/client";
import { agents, me, queryClient } from "../../api/queries";
import { may } from "../../live/workspace";
import { Badge } from "../../parts/badge";
import { Button } from "../../parts/button";
import { Empty, ErrorNote, Skeleton } from "../../parts/states";
import { When } from "../../parts/time";

type Agent = Schema["Agent"];

export function AgentsSection() {
  const { data: page, error, isPending, refetch } = useQuery(agents);
  const { data: who } = useQuery(me);
  const [editing, setEditing] = useState<Agent | "new">();
  const canPublish = may(who, "administer");
  return (
    <>
      {error && <ErrorNote error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton />}
      {page?.items.length === 0 && <Empty title="No agents yet" />}
      <ul className="rows">
        {page?.items.map((agent) => (
          <li key={agent.agentId}>
            <p className="row-head">
              <strong>{agent.name}</strong>
              <Badge>version {agent.number}</Badge>
              <span className="grow" />
              {canPublish && (
                <Button size="small" onClick={() => setEditing(agent)}>
                  New version
                </Button>
              )}
            </p>
            {editing !== agent && <pre className="instructions">{agent.instructions}</pre>}
            <p className="muted small">
              Published <When at={agent.publishedAt} />
            </p>
            {editing === agent && <Publish agent={agent} close={() => setEditing(undefined)} />}
          </li>
        ))}
      </ul>
      {canPublish &&
        (editing === "new" ? (
          <Publish close={() => setEditing(undefined)} />
        ) : (
          <Button onClick={() => setEditing("new")}>New agent</Button>
        ))}
    </>
  );
}

function Publish({ agent, close }: { agent?: Agent; close: () => void }) {
  const [name, setName] = useState(agent?.name ?? "");
  const [instructions, setInstructions] = useState(agent?.instructions ?? "");
  const publish = useMutation({
    mutationFn: () =>
      data(
        api.POST("/v1/agents", {
          body: { agentId: agent?.agentId ?? null, name: name.trim(), instructions },
        }),
      ),
    onSuccess: ({ agentId, agentVersionId, number }) => {
      const now = new Date().toISOString();
      const made: Agent = {
        agentId,
        agentVersionId,
        number,
        name: name.trim(),
        instructions,
        createdAt: agent?.createdAt ?? now,
        publishedAt: now,
      };
      queryClient.setQueryData(
        agents.queryKey,
        (page) =>
          page && { ...page, items: [made, ...page.items.filter((other) => other.agentId !== agentId)] },
      );
      close();
    },
  });
  return (
    <form
      className="panel"
      onSubmit={(event) => {
        event.preventDefault();
        publish.mutate();
      }}
    >
      {publish.error && <ErrorNote error={publish.error} />}
      {!agent && (
        <label className="field">
          Name
          <input value={name} required maxLength={200} onChange={(event) => setName(event.target.value)} />
        </label>
      )}
      <label className="field">
        Instructions, which the model reads first
        <textarea rows={8} value={instructions} onChange={(event) => setInstructions(event.target.value)} />
      </label>
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button look="primary" type="submit" busy={publish.isPending}>
          Publish
        </Button>
      </footer>
    </form>
  );
}
