/** A panel over the page, from its edge. */
import { X } from "lucide-react";
import { Dialog } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { IconButton } from "./button";

interface Props {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  side?: "left" | "right";
  hideTitle?: boolean;
  children: ReactNode;
}

export function Sheet({ open, onOpenChange, title, side = "right", hideTitle, children }: Props) {
  const content = useRef<HTMLDivElement>(null);
  // The panel itself takes the focus: on its first button it would open that button's hint.
  const focus = (event: Event) => {
    event.preventDefault();
    content.current?.focus();
  };
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content
          ref={content}
          className={`sheet ${side}`}
          aria-describedby={undefined}
          onOpenAutoFocus={focus}
        >
          <header className={hideTitle ? "unseen" : undefined}>
            <Dialog.Title>{title}</Dialog.Title>
            <Dialog.Close asChild>
              <IconButton name="Close">
                <X size={18} aria-hidden />
              </IconButton>
            </Dialog.Close>
          </header>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
