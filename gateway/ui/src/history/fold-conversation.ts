/** Facts of the conversation itself. */
import type { Folds } from "./fold";

export const conversationFacts: Folds = {
  "conversation.started": (talk, { title }) => ({ ...talk, title }),
  "conversation.renamed": (talk, { title }) => ({ ...talk, title }),
  "conversation.archived": (talk) => ({ ...talk, archived: true }),
  "conversation.message_added": (talk, { message }, fact) => ({
    ...talk,
    order: [...talk.order, message.turnId],
    turns: {
      ...talk.turns,
      [message.turnId]: {
        id: message.turnId,
        messageId: message.messageId,
        parentId: message.parentMessageId,
        answerId: message.assistantMessageId,
        text: message.text,
        at: fact.occurredAt,
        status: "queued",
        mode: "act",
        asked: "act",
        cancelRequested: false,
        steps: [],
        calls: {},
        approvals: {},
        plans: {},
      },
    },
  }),
};
