/** The window's title: the page, and before it how many questions wait. */
import { useEffect } from "react";
import { Store, useStore } from "../live/store";

export const waiting = new Store(0);

export function useTitle(page: string) {
  const count = useStore(waiting);
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ""}${page} · Oxagen`;
  }, [page, count]);
}
