/** A conversation: as it is now, or as it was at a point of its history. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { Archive, ChartNoAxesColumn, History, MessageCircleQuestion } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { api, data } from "../api/client";
import { me } from "../api/queries";
import { Composer } from "../composer/composer";
import { HistoryBar } from "../conversation/history-bar";
import { PastProvider } from "../conversation/past";
import { TurnList } from "../conversation/turn-list";
import { UsageSheet } from "../conversation/usage-sheet";
import { useAnnouncements } from "../conversation/use-announcements";
import { asOf } from "../history/fold";
import { openTurn } from "../history/model";
import { branches, type Choices, path } from "../history/path";
import { useTalk } from "../live/talk";
import { may } from "../live/workspace";
import { IconButton } from "../parts/button";
import { ConnectionState } from "../parts/connection";
import { Empty, ErrorNote, Skeleton } from "../parts/states";
import { useTitle } from "../parts/title";
import { goToQuestion } from "../questions/question-card";
import { conversation as route } from "../router";
import "../styles/conversation.css";
import { Title } from "../conversation/title";
import { MenuButton } from "./shell";

export function ConversationPage() {
  const { id } = route.useParams();
  return <Conversation key={id} id={id} />;
}

function Conversation({ id }: { id: string }) {
  const { at } = route.useSearch();
  const navigate = route.useNavigate();
  const { talk: now, facts, connection, loaded } = useTalk(id);
  const { data: who } = useQuery(me);
  const [choices, setChoices] = useState<Choices>({});
  const [usage, setUsage] = useState(false);

  const past = at !== undefined;
  const count = past ? facts.findLastIndex((fact) => fact.seq <= at) + 1 : facts.length;
  const talk = useMemo(() => (past ? asOf(id, facts, count) : now), [past, id, facts, count, now]);
  const all = useMemo(() => branches(talk), [talk]);
  const turns = useMemo(() => path(all, choices), [all, choices]);
  const running = openTurn(now);
  const newest = now.turns[now.order.at(-1) ?? ""];
  useTitle(talk.title || "Conversation");
  useAnnouncements(running ?? newest, loaded && connection.state === "live");
  useEffect(() => {
    addEventListener("keydown", goToQuestion);
    return () => removeEventListener("keydown", goToQuestion);
  }, []);
  // A new message is where a person wants to be, whatever branch was looked at.
  useEffect(() => setChoices({}), [now.order.length]);

  const archive = useMutation({
    mutationFn: () => data(api.POST("/v1/conversations/{id}/archive", { params: { path: { id } } })),
  });
  const go = (count: number) => navigate({ search: { at: facts[count - 1]?.seq }, replace: true });

  if (connection.state === "refused" && connection.problem.status === 404) {
    return (
      <Empty icon={<MessageCircleQuestion size={36} aria-hidden />} title="There is no such conversation">
        <p>It may belong to another workspace: sign in with a key of that one.</p>
      </Empty>
    );
  }
  const end = turns.at(-1);
  const onNewest = end === newest;
  return (
    <PastProvider value={past}>
      <header className="page-head">
        <MenuButton />
        <Title id={id} title={talk.title} canRename={may(who, "act") && !past} />
        {talk.archived && <span className="badge">archived</span>}
        <span className="grow" />
        <ConnectionState connection={connection} brief />
        <IconButton name="Usage" onClick={() => setUsage(true)}>
          <ChartNoAxesColumn size={18} aria-hidden />
        </IconButton>
        <IconButton
          name="History"
          aria-pressed={past}
          disabled={facts.length === 0}
          onClick={() => (past ? navigate({ search: {} }) : go(facts.length))}
        >
          <History size={18} aria-hidden />
        </IconButton>
        {may(who, "act") && !talk.archived && (
          <IconButton
            name="Archive"
            disabled={archive.isPending || !!running}
            onClick={() => archive.mutate()}
          >
            <Archive size={18} aria-hidden />
          </IconButton>
        )}
      </header>
      {archive.error && <ErrorNote error={archive.error} />}
      {connection.state === "refused" && <ErrorNote error={connection.problem} />}
      {talk.unread > 0 && (
        <ErrorNote
          error={`This page is older than the server: ${talk.unread} facts could not be shown. Load it anew.`}
          retry={() => location.reload()}
        />
      )}
      {turns.length > 0 ? (
        <TurnList
          conversation={id}
          turns={turns}
          branches={all}
          choose={(choice) => setChoices((before) => ({ ...before, ...choice }))}
          canEdit={may(who, "act") && !running && !talk.archived}
        />
      ) : (
        <div className="turns-frame">
          <div className="turns-content">{!loaded && <Skeleton lines={6} />}</div>
        </div>
      )}
      <div className="dock">
        {past ? (
          <HistoryBar facts={facts} count={count} go={go} close={() => navigate({ search: {} })} />
        ) : (
          <Composer
            conversation={id}
            running={running}
            archived={talk.archived}
            parent={onNewest ? undefined : end?.answerId}
          />
        )}
      </div>
      <UsageSheet turns={turns} open={usage} onOpenChange={setUsage} />
    </PastProvider>
  );
}
