/** What went wrong, in the words of the runtime (problem+json), or that it could not be reached. */
import type { components } from "./schema";

export type ProblemBody = components["schemas"]["Problem"];

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly body?: ProblemBody,
  ) {
    super(message);
    this.name = "Problem";
  }

  /** From an answer that is a refusal. */
  static of(status: number, body: unknown): Problem {
    const problem = body as Partial<ProblemBody> | undefined;
    const text = problem?.detail ?? problem?.title ?? `The server answered ${status}.`;
    return new Problem(status, problem?.code ?? "unknown", text, problem as ProblemBody);
  }

  /** Nobody answered. */
  static unreachable(): Problem {
    return new Problem(0, "unreachable", "The server cannot be reached. Check the connection and try again.");
  }
}

/** Any error as a sentence for people. */
export function told(error: unknown): string {
  if (error instanceof Problem) return error.message;
  return error instanceof Error ? error.message : String(error);
}
