/** The key that this page speaks with. It lives in storage and in request headers, never in an address or a log. */

const NAME = "oxagen.key";
const listeners = new Set<() => void>();

/** Storage may be switched off; then the key lives as long as the page. */
function stored(storage: () => Storage): Storage | undefined {
  try {
    return storage();
  } catch {
    return undefined;
  }
}

const tab = stored(() => sessionStorage);
const device = stored(() => localStorage);

let current: string | undefined = handedOver() ?? tab?.getItem(NAME) ?? device?.getItem(NAME) ?? undefined;
let ended: string | undefined;

/** A key handed over once as `#key=…`: a fragment is never sent to a server. It is taken out of the address at once. */
function handedOver(): string | undefined {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (!key) return undefined;
  history.replaceState(history.state, "", location.pathname + location.search);
  tab?.removeItem(NAME);
  device?.setItem(NAME, key);
  return key;
}

function change(key: string | undefined, why?: string) {
  current = key;
  ended = why;
  for (const listener of listeners) listener();
}

export const session = {
  /** The key, if somebody is signed in. */
  key: () => current,
  /** Why the last session ended by itself, in words. */
  ended: () => ended,
  /** Keeps the key for this tab, or on this device until somebody signs out. */
  signIn(key: string, remember: boolean) {
    (remember ? device : tab)?.setItem(NAME, key);
    change(key);
  },
  signOut(why?: string) {
    tab?.removeItem(NAME);
    device?.removeItem(NAME);
    change(undefined, why);
  },
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

// A link with a key that is followed on a page which is open already.
addEventListener("hashchange", () => {
  const key = handedOver();
  if (key) change(key);
});

// Signing out in one tab signs out the others.
addEventListener("storage", (event) => {
  if (event.key === NAME && event.newValue === null && !tab?.getItem(NAME)) change(undefined);
});
