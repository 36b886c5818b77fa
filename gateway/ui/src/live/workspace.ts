/** The workspace's stream: keeps the lists true while the page is open. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data, type Schema } from "../api/client";
import { agents, approvals, conversations, keys, queryClient } from "../api/queries";
import { type Connection, follow } from "../api/stream";
import type { Fact } from "../history/facts";
import { Batch } from "./batch";
import { foldNews, type News, NO_NEWS, openApprovals, withNews } from "./news";
import { Store, useStore } from "./store";

export const connection = new Store<Connection>({ state: "connecting" });
const news = new Store<News>(NO_NEWS);

/** Lists that facts of these aggregates change; they are read anew when somebody looks at them. */
const READ_ANEW: Record<string, readonly unknown[]> = { api_key: keys.queryKey, agent: agents.queryKey };
/** A view is this far behind the stream at most, in milliseconds, in ordinary times. */
const VIEW_BEHIND = 400;

const batch = new Batch<Fact>((facts) => {
  news.set(facts.reduce(foldNews, news.get()));
  for (const aggregate of new Set(facts.map((fact) => fact.aggregateType))) {
    const queryKey = READ_ANEW[aggregate];
    if (queryKey) setTimeout(() => void queryClient.invalidateQueries({ queryKey }), VIEW_BEHIND);
  }
});

/** Follows the workspace until it is told to stop. */
export function followWorkspace(workspaceId: string): () => void {
  let stop = () => {};
  let stopped = false;
  let after = 0;
  const begin = async () => {
    after = await startingPoint().catch(() => 0);
    if (stopped) return;
    stop = follow({
      url: `/v1/workspaces/${workspaceId}/stream`,
      after: () => after,
      event: ({ event, data }) => {
        if (event === "caught-up") return batch.flush();
        const fact = JSON.parse(data) as Fact;
        after = Math.max(after, fact.seq);
        batch.add(fact);
      },
      connection: (state) => connection.set(state),
      gap: () => {
        stop();
        batch.drop();
        news.set(NO_NEWS);
        void queryClient.invalidateQueries();
        void begin();
      },
    });
  };
  void begin();
  return () => {
    stopped = true;
    stop();
    batch.drop();
    news.set(NO_NEWS);
    connection.set({ state: "connecting" });
  };
}

/**
 * A place in history before which the lists surely know everything: where the newest conversation stood before the
 * lists were read. What the stream repeats from there changes nothing.
 */
async function startingPoint(): Promise<number> {
  const page = await data(api.GET("/v1/conversations", { params: { query: { limit: 1 } } }));
  const newest = page.items[0];
  if (!newest) return 0;
  const params = { path: { id: newest.conversationId } };
  const { lastSeq } = await data(api.GET("/v1/conversations/{id}", { params }));
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: conversations.queryKey }),
    queryClient.invalidateQueries({ queryKey: approvals.queryKey }),
  ]);
  return lastSeq;
}

/** The workspace's conversations, the one in which something happened last first. */
export function useConversations() {
  const query = useInfiniteQuery(conversations);
  const told = useStore(news);
  const items = useMemo(
    () => withNews(query.data?.pages.flatMap((page) => page.items) ?? [], told),
    [query.data, told],
  );
  return { ...query, items, running: told.running };
}

/** What waits for a person's answer in the workspace. */
export function useApprovals() {
  const query = useQuery(approvals);
  const told = useStore(news);
  const items = useMemo(() => openApprovals(query.data?.items ?? [], told), [query.data, told]);
  return { ...query, items };
}

/** Whether the key's holder may do this. */
export function may(me: Schema["Me"] | undefined, right: "act" | "decide" | "administer"): boolean {
  return me?.rights.includes(right) ?? false;
}
