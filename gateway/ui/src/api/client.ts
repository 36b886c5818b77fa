/** The HTTP API, typed by the OpenAPI document. */
import createClient, { type FetchResponse, type Middleware } from "openapi-fetch";
import { Problem } from "./problem";
import type { components, paths } from "./schema";
import { session } from "./session";

export type Schema = components["schemas"];

const withKey: Middleware = {
  onRequest({ request }) {
    const key = session.key();
    if (key && !request.headers.has("authorization")) request.headers.set("authorization", `Bearer ${key}`);
    return request;
  },
  onResponse({ request, response }) {
    const ours = request.headers.get("authorization") === `Bearer ${session.key()}`;
    if (response.status === 401 && ours)
      session.signOut("Your key is no longer valid. Sign in with another one.");
    return response;
  },
  onError({ error }) {
    return error instanceof DOMException && error.name === "AbortError" ? error : Problem.unreachable();
  },
};

export const api = createClient<paths>({ baseUrl: "/" });
api.use(withKey);

/** The body of an answer, or a thrown `Problem`. */
export async function data<T extends Record<string | number, unknown>, O, M extends `${string}/${string}`>(
  answer: Promise<FetchResponse<T, O, M>>,
): Promise<NonNullable<FetchResponse<T, O, M>["data"]>> {
  const { data, error, response } = await answer;
  if (!response.ok) throw Problem.of(response.status, error);
  return data as NonNullable<FetchResponse<T, O, M>["data"]>;
}

/** A kept body whole. */
export async function object(digest: string): Promise<string> {
  const { response, error, data } = await api.GET("/v1/objects/{digest}", {
    params: { path: { digest } },
    parseAs: "text",
  });
  if (!response.ok) throw Problem.of(response.status, error);
  return data as unknown as string;
}
