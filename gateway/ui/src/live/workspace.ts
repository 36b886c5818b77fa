/** The workspace's stream: keeps the lists true while the page is open. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { api, data, type Schema } from "../api/client";
import {
  agents,
  approvals,
  conversations,
  doubts,
  keys,
  plans,
  policy,
  queryClient,
  standing,
} from "../api/queries";
import { type Connection, follow } from "../api/stream";
import type { Fact } from "../history/facts";
import { Batch } from "./batch";
import { foldNews, type News, NO_NEWS, openApprovals, openDoubts, openPlans, withNews } from "./news";
import { Store, useStore } from "./store";

export const connection = new Store<Connection>({ state: "connecting" });
const news = new Store<News>(NO_NEWS);

/** Lists that facts of these aggregates change; they are read anew when somebody looks at them. */
const READ_ANEW: Record<string, (readonly unknown[])[]> = {
  api_key: [keys.queryKey],
  agent: [agents.queryKey],
  // These come from the policy itself and not from a view of it.
  policy: [policy.queryKey, standing.queryKey],
};
/** A view follows the stream within tens of milliseconds; the later looks are for one that was kept back. */
const LOOKS = [400, 2_000, 6_000];

const batch = new Batch<Fact>((facts) => {
  news.set(facts.reduce(foldNews, news.get()));
  for (const aggregate of new Set(facts.map((fact) => fact.aggregateType))) {
    for (const queryKey of READ_ANEW[aggregate] ?? [])
      for (const look of LOOKS) setTimeout(() => void queryClient.invalidateQueries({ queryKey }), look);
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
    queryClient.invalidateQueries({ queryKey: plans.queryKey }),
    queryClient.invalidateQueries({ queryKey: doubts.queryKey }),
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

/** What waits for a person in the workspace: questions, plans, and calls of which nobody knows. */
export function useInbox() {
  const asked = useQuery(approvals);
  const planned = useQuery(plans);
  const doubted = useQuery(doubts);
  const told = useStore(news);
  const open = useMemo(() => openApprovals(asked.data?.items ?? [], told), [asked.data, told]);
  const proposed = useMemo(() => openPlans(planned.data?.items ?? [], told), [planned.data, told]);
  const unknown = useMemo(() => openDoubts(doubted.data?.items ?? [], told), [doubted.data, told]);
  const all = [asked, planned, doubted];
  return {
    approvals: open,
    plans: proposed,
    doubts: unknown,
    count: open.length + proposed.length + unknown.length,
    isPending: all.some((query) => query.isPending),
    error: all.find((query) => query.error)?.error,
    refetch: () => all.forEach((query) => void query.refetch()),
    /** Whether only the first are here. */
    isCut: all.some((query) => query.data?.nextCursor !== undefined),
  };
}

/** Whether the key's holder may do this. */
export function may(me: Schema["Me"] | undefined, right: "act" | "decide" | "administer"): boolean {
  return me?.rights.includes(right) ?? false;
}
