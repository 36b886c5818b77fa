/** The workspace's conversations by day, live, searched by title. */
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Archive, Ellipsis, Pencil } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useEffect, useMemo, useState } from "react";
import { api, data } from "../api/client";
import { TitleField, useRename } from "../conversation/rename";
import type { ConversationItem } from "../live/news";
import { useConversations, useInbox } from "../live/workspace";
import { announce } from "../parts/announcer";
import { Button, IconButton } from "../parts/button";
import { ErrorNote, Skeleton, Spinner } from "../parts/states";
import { dayGroup } from "../parts/time";

export function ConversationList({ search }: { search: string }) {
  const { items, running, isPending, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } =
    useConversations();
  const { approvals, plans } = useInbox();
  const [archived, setArchived] = useState(false);
  const wanted = search.trim().toLowerCase();
  // Titles on pages that were not read yet are to be found too.
  useEffect(() => {
    if (wanted && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [wanted, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const shown = useMemo(
    () => items.filter((item) => item.archived === archived && item.title.toLowerCase().includes(wanted)),
    [items, archived, wanted],
  );
  const groups = useMemo(() => Map.groupBy(shown, (item) => dayGroup(item.updatedAt)), [shown]);
  const asks = new Set([...approvals, ...plans].map((question) => question.conversationId));

  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  return (
    <div className="conversations" tabIndex={0} role="region" aria-label="Conversations">
      {isPending && <Skeleton lines={6} />}
      {!isPending && shown.length === 0 && (
        <p className="muted small pad">
          {wanted
            ? `Nothing is called “${search.trim()}”.`
            : archived
              ? "Nothing is archived."
              : "Your conversations come here."}
        </p>
      )}
      {[...groups].map(([group, members]) => (
        <section key={group}>
          <h2>{group}</h2>
          <ul>
            {members.map((item) => (
              <Item
                key={item.conversationId}
                item={item}
                state={
                  asks.has(item.conversationId) ? "asks" : running[item.conversationId] ? "runs" : undefined
                }
              />
            ))}
          </ul>
        </section>
      ))}
      {hasNextPage && !wanted && (
        <Button size="small" look="quiet" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older ones
        </Button>
      )}
      {items.some((item) => item.archived) && (
        <Button size="small" look="quiet" aria-pressed={archived} onClick={() => setArchived(!archived)}>
          <Archive size={14} aria-hidden /> {archived ? "Back to the others" : "Archived"}
        </Button>
      )}
    </div>
  );
}

function Item({ item, state }: { item: ConversationItem; state?: "asks" | "runs" }) {
  const id = item.conversationId;
  const rename = useRename(id, item.title);
  const archive = useMutation({
    mutationFn: () => data(api.POST("/v1/conversations/{id}/archive", { params: { path: { id } } })),
    onError: (error) => announce(error.message, true),
  });
  if (rename.text !== undefined) {
    return (
      <li>
        <TitleField of={rename} className="rename" />
      </li>
    );
  }
  return (
    <li className="conversation">
      <Link to="/c/$id" params={{ id }} className="nav-item">
        {state === "asks" && <i className="dot" role="img" aria-label="Waits for you" />}
        {state === "runs" && <Spinner />}
        <span className="name">{rename.shown || "Untitled"}</span>
      </Link>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger asChild>
          <IconButton name={`More for ${item.title}`} className="small more">
            <Ellipsis size={15} aria-hidden />
          </IconButton>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          {/* The field that it opens takes the focus. */}
          <DropdownMenu.Content
            className="popover menu"
            align="start"
            onCloseAutoFocus={(event) => rename.text === undefined || event.preventDefault()}
          >
            <DropdownMenu.Item onSelect={() => setTimeout(rename.begin)}>
              <Pencil size={15} aria-hidden /> Rename
            </DropdownMenu.Item>
            {!item.archived && (
              <DropdownMenu.Item onSelect={() => archive.mutate()}>
                <Archive size={15} aria-hidden /> Archive
              </DropdownMenu.Item>
            )}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
    </li>
  );
}
