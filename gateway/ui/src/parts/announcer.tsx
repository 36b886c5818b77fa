/** Tells screen readers what happens elsewhere on the page. */
import { Store, useStore } from "../live/store";

const polite = new Store("");
const urgent = new Store("");

export function announce(text: string, isUrgent = false) {
  const store = isUrgent ? urgent : polite;
  // The same words again are news again.
  store.set(store.get() === text ? `${text}\u00a0` : text);
}

export function Announcer() {
  return (
    <>
      <div className="unseen" role="status" aria-live="polite">
        {useStore(polite)}
      </div>
      <div className="unseen" role="alert" aria-live="assertive">
        {useStore(urgent)}
      </div>
    </>
  );
}
