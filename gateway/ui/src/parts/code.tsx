/** Code in colours. What colours it is loaded when the first code is shown. */
import { Check, Copy } from "lucide-react";
import { memo, type ReactNode, useEffect, useState } from "react";
import { Store, useStore } from "../live/store";
import { IconButton } from "./button";

type Colour = (code: string, language: string | undefined) => ReactNode;

const loaded = new Store<Colour | undefined>(undefined);
let loading = false;

function useColour(): Colour | undefined {
  useEffect(() => {
    if (loading) return;
    loading = true;
    import("./highlight")
      .then(({ highlight }) => loaded.set(highlight))
      .catch(() => {
        loading = false;
      });
  }, []);
  return useStore(loaded);
}

/** Beyond this, colours are not worth the wait. */
const LONG = 50_000;

export const Code = memo(function Code({
  code,
  language,
  label,
}: {
  code: string;
  language?: string;
  label?: string;
}) {
  const colour = useColour();
  return (
    <figure className="code">
      <figcaption>
        <span>{label ?? language ?? "text"}</span>
        <CopyButton text={code} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{colour && code.length < LONG ? colour(code, language) : code}</code>
      </pre>
    </figure>
  );
});

export function CopyButton({ text, name = "Copy" }: { text: string; name?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  return (
    <IconButton name={copied ? "Copied" : name} onClick={copy} className="small">
      {copied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
    </IconButton>
  );
}
