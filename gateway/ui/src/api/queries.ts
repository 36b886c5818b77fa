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

export const agents = queryOptions({ queryKey: ["agents"], queryFn: () => data(api.GET("/v1/agents")) });

export const tools = queryOptions({ queryKey: ["tools"], queryFn: () => data(api.GET("/v1/tools")) });

export const keys = infiniteQueryOptions({
  queryKey: ["keys"],
  queryFn: ({ pageParam }) => data(api.GET("/v1/keys", { params: { query: { cursor: pageParam } } })),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.nextCursor,
});
