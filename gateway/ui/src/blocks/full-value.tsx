/** A value that may be too large to travel whole: its beginning, and the rest when it is asked for. */
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { object } from "../api/client";
import { Button } from "../parts/button";
import { Code } from "../parts/code";
import { ErrorNote, Skeleton } from "../parts/states";

interface Props {
  value: unknown;
  digest?: string;
  children: (value: unknown) => ReactNode;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function FullValue({ value, digest, children }: Props) {
  const [wanted, setWanted] = useState(false);
  const whole = useQuery({
    queryKey: ["object", digest],
    queryFn: () => object(digest ?? ""),
    enabled: wanted && digest !== undefined,
  });
  if (!digest) return children(value);
  if (whole.data !== undefined) return children(parsed(whole.data));
  return (
    <>
      <Code code={String(value)} label="beginning" />
      {whole.error ? (
        <ErrorNote error={whole.error} retry={() => void whole.refetch()} />
      ) : whole.isFetching ? (
        <Skeleton />
      ) : (
        <Button size="small" onClick={() => setWanted(true)}>
          Show all of it
        </Button>
      )}
    </>
  );
}
