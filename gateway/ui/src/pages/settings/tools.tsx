/** What agents can call here. */
import { useQuery } from "@tanstack/react-query";
import { tools } from "../../api/queries";
import { Badge, RiskBadge } from "../../parts/badge";
import { ErrorNote, Skeleton } from "../../parts/states";

export function ToolsSection() {
  const { data, error, isPending, refetch } = useQuery(tools);
  return (
    <>
      <p className="muted">
        What an agent can call. What may really run is decided by the workspace's policy, call by call.
      </p>
      {error && <ErrorNote error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton />}
      <ul className="rows">
        {data?.tools.map((tool) => (
          <li key={tool.name}>
            <p className="row-head">
              <code>{tool.capability}</code>
              <RiskBadge risk={tool.risk} />
              <Badge>{tool.effect}</Badge>
              {tool.requiresApproval && <Badge tone="warn">asks first</Badge>}
              {tool.external && <Badge tone="info">external</Badge>}
            </p>
            <p className="muted">{tool.description}</p>
          </li>
        ))}
      </ul>
    </>
  );
}
