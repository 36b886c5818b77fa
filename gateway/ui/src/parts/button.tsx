import { Tooltip } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";

interface Looks {
  look?: "plain" | "primary" | "danger" | "quiet";
  size?: "normal" | "small";
  busy?: boolean;
}

export function Button({
  look = "plain",
  size = "normal",
  busy,
  className = "",
  ...rest
}: ComponentProps<"button"> & Looks) {
  return (
    <button
      type="button"
      className={`button ${look} ${size} ${className}`}
      aria-busy={busy || undefined}
      {...rest}
      disabled={rest.disabled || busy}
    />
  );
}

/** A button with a picture alone: its name is read and shown on hover. */
export function IconButton({
  name,
  keys,
  children,
  className = "",
  ...rest
}: ComponentProps<"button"> & { name: string; keys?: string; children: ReactNode }) {
  return (
    <Hint text={keys ? `${name} (${keys})` : name}>
      <button type="button" className={`icon-button ${className}`} aria-label={name} {...rest}>
        {children}
      </button>
    </Hint>
  );
}

export function Hint({ text, children }: { text: string; children: ReactNode }) {
  return (
    <Tooltip.Root>
      <Tooltip.Trigger asChild>{children}</Tooltip.Trigger>
      <Tooltip.Portal>
        <Tooltip.Content className="tooltip" sideOffset={6} collisionPadding={8}>
          {text}
        </Tooltip.Content>
      </Tooltip.Portal>
    </Tooltip.Root>
  );
}
