import type { ReactNode } from "react";
import type { Risk } from "../history/model";

export type Tone = "neutral" | "good" | "warn" | "bad" | "info";

export function Badge({ tone = "neutral", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

const RISKS: Record<Risk, Tone> = { low: "neutral", medium: "warn", high: "bad" };

export function RiskBadge({ risk }: { risk: string }) {
  return <Badge tone={RISKS[risk as Risk] ?? "warn"}>{risk} risk</Badge>;
}
