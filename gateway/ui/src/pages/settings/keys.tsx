/** API keys: made, shown once, revoked. */
import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schema } from "../../api/client";
import { keys, me, queryClient } from "../../api/queries";
import { Badge } from "../../parts/badge";
import { Button } from "../../parts/button";
import { CopyButton } from "../../parts/code";
import { ErrorNote, Skeleton } from "../../parts/states";
import { When } from "../../parts/time";

const ROLES: { role: Schema["Role"]; may: string }[] = [
  { role: "member", may: "converses, calls tools, answers approvals" },
  { role: "viewer", may: "only reads" },
  { role: "service", may: "a program: converses and calls tools, answers nothing" },
  { role: "admin", may: "everything but making owners" },
  { role: "owner", may: "everything" },
];

const reread = () => queryClient.invalidateQueries({ queryKey: keys.queryKey });

export function KeysSection() {
  const { data: pages, error, isPending, refetch, hasNextPage, fetchNextPage } = useInfiniteQuery(keys);
  const { data: who } = useQuery(me);
  const items = pages?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <NewKey roles={ROLES.filter(({ role }) => role !== "owner" || who?.role === "owner")} />
      {error && <ErrorNote error={error} retry={() => void refetch()} />}
      {isPending && <Skeleton />}
      <ul className="rows">
        {items.map((key) => (
          <KeyItem key={key.keyId} item={key} own={key.keyId === who?.keyId} />
        ))}
      </ul>
      {hasNextPage && <Button onClick={() => void fetchNextPage()}>Show older ones</Button>}
    </>
  );
}

function KeyItem({ item, own }: { item: Schema["Key"]; own: boolean }) {
  const [sure, setSure] = useState(false);
  const revoke = useMutation({
    mutationFn: () => data(api.DELETE("/v1/keys/{id}", { params: { path: { id: item.keyId } } })),
    onSuccess: reread,
  });
  const revoked = item.revokedAt !== undefined || revoke.isSuccess;
  return (
    <li className={revoked ? "gone" : undefined}>
      <p className="row-head">
        <strong>{item.name}</strong>
        <Badge>{item.role}</Badge>
        {own && <Badge tone="info">this session</Badge>}
        {revoked && <Badge tone="bad">revoked</Badge>}
        <span className="grow" />
        {!revoked && !sure && (
          <Button size="small" onClick={() => setSure(true)}>
            Revoke
          </Button>
        )}
        {!revoked && sure && (
          <>
            <Button size="small" onClick={() => setSure(false)}>
              Keep
            </Button>
            <Button size="small" look="danger" busy={revoke.isPending} onClick={() => revoke.mutate()}>
              {own ? "Revoke, and sign me out" : "Revoke for good"}
            </Button>
          </>
        )}
      </p>
      <p className="muted small">
        Made <When at={item.createdAt} />
      </p>
      {revoke.error && <ErrorNote error={revoke.error} />}
    </li>
  );
}

function NewKey({ roles }: { roles: typeof ROLES }) {
  const [name, setName] = useState("");
  const [role, setRole] = useState<Schema["Role"]>("member");
  const make = useMutation({
    mutationFn: () => data(api.POST("/v1/keys", { body: { name: name.trim(), role } })),
    onSuccess: () => {
      setName("");
      void reread();
    },
  });
  return (
    <form
      className="panel"
      onSubmit={(event) => {
        event.preventDefault();
        make.mutate();
      }}
    >
      {make.error && <ErrorNote error={make.error} />}
      <div className="inline">
        <label className="field">
          Name
          <input value={name} required maxLength={200} onChange={(event) => setName(event.target.value)} />
        </label>
        <label className="field">
          Role
          <select value={role} onChange={(event) => setRole(event.target.value as Schema["Role"])}>
            {roles.map(({ role, may }) => (
              <option key={role} value={role}>
                {role}: {may}
              </option>
            ))}
          </select>
        </label>
        <Button look="primary" type="submit" busy={make.isPending}>
          Make a key
        </Button>
      </div>
      {make.data && (
        <div className="note good" role="status">
          <div>
            <p>
              <strong>The key “{make.data.name}”. It is shown this once:</strong>
            </p>
            <p className="secret">
              <code>{make.data.secret}</code>
              <CopyButton text={make.data.secret} name="Copy the key" />
            </p>
          </div>
        </div>
      )}
    </form>
  );
}
