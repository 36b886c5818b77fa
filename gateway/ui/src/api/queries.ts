/** What is read by request, and how long it stays fresh. Nothing asks again by itself: streams tell what changed. */
import { infiniteQueryOptions, QueryClient, queryOptions } from "@tanstack/react-query";
import { api, data } from "./client";
import { Problem } from "./problem";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      retry: (failures, error) =>
        failures < 3 && error instanceof Problem && (error.status === 0 || error.status >= 500),
    },
  },
});

export const me = queryOptions({ queryKey: ["me"], queryFn: () => data(api.GET("/v1/me")) });

const PAGE = 100;

export const conversations = infiniteQueryOptions({
  queryKey: ["conversations"],
  queryFn: ({ pageParam }) =>
    data(api.GET("/v1/conversations", { params: { query: { limit: PAGE, cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.nextCursor,
});

export const approvals = queryOptions({
  queryKey: ["approvals"],
  queryFn: () => data(api.GET("/v1/approvals", { params: { query: { status: "open", limit: 200 } } })),
});

export const plans = queryOptions({
  queryKey: ["plans"],
  queryFn: () => data(api.GET("/v1/plans", { params: { query: { status: "proposed", limit: 200 } } })),
});

/** Calls of which nobody knows whether they happened. */
export const doubts = queryOptions({
  queryKey: ["doubts"],
  queryFn: () => data(api.GET("/v1/tool-calls", { params: { query: { status: "in_doubt", limit: 200 } } })),
});

export const call = (id: string) =>
  queryOptions({
    queryKey: ["call", id],
    queryFn: () => data(api.GET("/v1/tool-calls/{id}", { params: { path: { id } } })),
  });

export const policy = queryOptions({ queryKey: ["policy"], queryFn: () => data(api.GET("/v1/policy")) });

export const standing = queryOptions({
  queryKey: ["standing"],
  queryFn: () => data(api.GET("/v1/standing-approvals")),
});

export const tool = (capability: string) =>
  queryOptions({
    queryKey: ["tool", capability],
    queryFn: () => data(api.GET("/v1/tools/{capability}", { params: { path: { capability } } })),
  });

export const agents = queryOptions({ queryKey: ["agents"], queryFn: () => data(api.GET("/v1/agents")) });

export const tools = queryOptions({ queryKey: ["tools"], queryFn: () => data(api.GET("/v1/tools")) });

export const keys = infiniteQueryOptions({
  queryKey: ["keys"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/keys", { params: { query: { cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.nextCursor,
});
