/** The turns, of which only those near the window are in the page. It stays at the end while a person is there. */
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Virtualizer, type VirtualizerHandle } from "virtua";
import type { Turn } from "../history/model";
import { type Choices, parentKey } from "../history/path";
import { IconButton } from "../parts/button";
import { TurnView } from "./turn";

interface Props {
  conversation: string;
  turns: Turn[];
  branches: Map<string, Turn[]>;
  choose: (choices: Choices) => void;
  canEdit: boolean;
}

/** So near to the end a person means the end, in pixels. */
const NEAR = 60;
/** What is kept in the page beyond the window, in pixels. */
const AROUND = 1200;

export function TurnList({ conversation, turns, branches, choose, canEdit }: Props) {
  const scroll = useRef<HTMLDivElement>(null);
  const list = useRef<VirtualizerHandle>(null);
  const [atEnd, setAtEnd] = useState(true);
  const stay = useRef(true);
  const top = useRef(0);

  const toEnd = useCallback(() => {
    const box = scroll.current;
    stay.current = true;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);

  useLayoutEffect(() => {
    const box = scroll.current;
    if (!box?.firstElementChild) return;
    // Whatever makes the content higher: new text, a card that opens, a font.
    const observer = new ResizeObserver(() => {
      // What has become so short that all of it is seen is at its end.
      if (box.scrollHeight - box.clientHeight < NEAR) {
        stay.current = true;
        setAtEnd(true);
      }
      if (stay.current) toEnd();
    });
    observer.observe(box.firstElementChild);
    observer.observe(box);
    return () => observer.disconnect();
  }, [toEnd]);

  // What a person has just said is to be seen.
  const last = turns.at(-1)?.id;
  useEffect(() => {
    toEnd();
  }, [last, conversation, toEnd]);

  const scrolled = () => {
    const box = scroll.current;
    if (!box) return;
    const end = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
    // Content that grows leaves the end behind; only a person goes up.
    if (end) stay.current = true;
    else if (box.scrollTop < top.current) stay.current = false;
    top.current = box.scrollTop;
    setAtEnd(end || stay.current);
  };

  return (
    <div className="turns-frame">
      <div
        className="turns"
        ref={scroll}
        onScroll={scrolled}
        tabIndex={0}
        role="region"
        aria-label="Messages"
      >
        <div className="turns-content">
          <Virtualizer ref={list} scrollRef={scroll} bufferSize={AROUND}>
            {turns.map((turn) => {
              const siblings = branches.get(parentKey(turn)) ?? [];
              const branch =
                siblings.length > 1
                  ? {
                      number: siblings.indexOf(turn) + 1,
                      of: siblings.length,
                      choose: (number: number) =>
                        choose({ [parentKey(turn)]: siblings[number - 1]?.id ?? turn.id }),
                    }
                  : undefined;
              return (
                <TurnView
                  key={turn.id}
                  turn={turn}
                  branch={branch}
                  conversation={conversation}
                  canEdit={canEdit}
                />
              );
            })}
          </Virtualizer>
        </div>
      </div>
      {!atEnd && (
        <IconButton name="To the newest message" className="to-end" onClick={toEnd}>
          <ArrowDown size={17} aria-hidden />
        </IconButton>
      )}
    </div>
  );
}
