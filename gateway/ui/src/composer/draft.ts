/** What a person is writing, kept over reloads, for each conversation. */
import type { Schema } from "../api/client";
import { Store } from "../live/store";

export interface Draft {
  text: string;
  /** Whether the agent is to plan first; of the next message alone. */
  mode: Schema["Mode"];
  model: string;
  agentId: string;
  budget: Partial<Schema["Budget"]>;
}

const NOTHING: Draft = { text: "", mode: "act", model: "", agentId: "", budget: {} };
const drafts = new Map<string, Store<Draft>>();

function name(conversation: string) {
  return `oxagen.draft.${conversation}`;
}

function read(conversation: string): Draft {
  try {
    return { ...NOTHING, ...JSON.parse(localStorage.getItem(name(conversation)) ?? "{}") };
  } catch {
    return NOTHING;
  }
}

/** The draft of a conversation; `new` for one that does not exist yet. */
export function draftOf(conversation: string): Store<Draft> {
  const known = drafts.get(conversation);
  if (known) return known;
  const store = new Store(read(conversation));
  drafts.set(conversation, store);
  store.subscribe(() => {
    const { text, ...options } = store.get();
    const { mode, model, agentId, budget } = options;
    const isEmpty = !text && mode === "act" && !model && !agentId && Object.keys(budget).length === 0;
    try {
      if (isEmpty) localStorage.removeItem(name(conversation));
      else localStorage.setItem(name(conversation), JSON.stringify(store.get()));
    } catch {
      // Storage is full or off: the draft lives as long as the page.
    }
  });
  return store;
}
