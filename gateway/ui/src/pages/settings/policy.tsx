/** What agents may do here: the policy in force, its kill switch, and what it would say to a call. */
import { useMutation, useQuery } from "@tanstack/react-query";
import { OctagonX } from "lucide-react";
import { useState } from "react";
import { api, data, type Schema } from "../../api/client";
import { me, policy, queryClient } from "../../api/queries";
import { may } from "../../live/workspace";
import { Button } from "../../parts/button";
import { ErrorNote, Skeleton } from "../../parts/states";
import { lasting } from "../../parts/time";
import { flawsIn } from "../../questions/approval-panel";
import { JsonField } from "../../questions/schema-field";
import { Explain } from "./explain";
import { RuleList, Terms } from "./rules";

type Document = Schema["PolicyDocument"];

export function PolicySection() {
  const { data: now, error, isPending, refetch } = useQuery(policy);
  const { data: who } = useQuery(me);
  const [editing, setEditing] = useState(false);
  const canSet = may(who, "administer");
  if (isPending) return <Skeleton lines={6} />;
  if (error) return <ErrorNote error={error} retry={() => void refetch()} />;
  const { policy: document, version } = now;
  return (
    <>
      <KillSwitch now={now} canSet={canSet} />
      <section className="panel" aria-label="In force">
        <p className="row-head">
          <strong>In force</strong>
          <span className="muted small">version {version}</span>
          <span className="grow" />
          {canSet && !editing && (
            <Button size="small" onClick={() => setEditing(true)}>
              Edit
            </Button>
          )}
        </p>
        {editing ? <Edit now={now} close={() => setEditing(false)} /> : <Shown document={document} />}
      </section>
      <Explain />
    </>
  );
}

function Shown({ document }: { document: Document }) {
  const { tier, enabled = [], languages = [], network, approvalExpirySeconds = 3600, approval } = document;
  return (
    <>
      <dl className="fields">
        <Field name="Tier">{tier}</Field>
        <Field name="Risky tools enabled">{enabled.join(", ") || "none"}</Field>
        <Field name="Sandbox languages">{languages.join(", ") || "none"}</Field>
        <Field name="Sandbox network">{network ? "where the tier has it" : "never"}</Field>
        <Field name="A question is open for">{lasting(approvalExpirySeconds * 1000)}</Field>
        <Field name="It takes">
          <Terms terms={approval ?? {}} />
        </Field>
      </dl>
      <h3 className="small">Rules</h3>
      <RuleList rules={document.rules ?? []} />
    </>
  );
}

function Field({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Sets a policy, unless another one is in force by now. */
function useSet(version: number, done: () => void) {
  return useMutation({
    mutationFn: (policy: Document) => data(api.PUT("/v1/policy", { body: { policy, version } })),
    onSuccess: (now) => {
      queryClient.setQueryData(policy.queryKey, now);
      done();
    },
  });
}

function Edit({ now, close }: { now: Schema["Policy"]; close: () => void }) {
  const [document, setDocument] = useState<unknown>(now.policy);
  // Whoever edits answers for the version that they saw.
  const [version] = useState(now.version);
  const set = useSet(version, close);
  const flaws = flawsIn(set.error, "/policy");
  const isValue = typeof document === "object" && document !== null;
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault();
        set.mutate(document as Document);
      }}
    >
      <JsonField label="The policy as JSON" value={now.policy} rows={18} onChange={setDocument} />
      {flaws.map((flaw) => (
        <p className="flaw" key={flaw.pointer}>
          <code>{flaw.pointer}</code> {flaw.expected}
        </p>
      ))}
      {set.error && flaws.length === 0 && <ErrorNote error={set.error} />}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button look="primary" type="submit" busy={set.isPending} disabled={!isValue}>
          Bring into force
        </Button>
      </footer>
    </form>
  );
}

function KillSwitch({ now, canSet }: { now: Schema["Policy"]; canSet: boolean }) {
  const [asked, ask] = useState(false);
  const [cancel, setCancel] = useState(false);
  const set = useSet(now.version, () => ask(false));
  const { killSwitch } = now.policy;
  const isOn = killSwitch?.workspace ?? false;
  const turn = (workspace: boolean) =>
    set.mutate({
      ...now.policy,
      killSwitch: { ...killSwitch, workspace, cancel: workspace && cancel },
    });
  return (
    <section className={isOn ? "panel stopped" : "panel"} aria-label="Kill switch">
      <p className="row-head">
        <OctagonX size={18} aria-hidden />
        <strong>{isOn ? "Everything is stopped" : "Kill switch"}</strong>
        <span className="grow" />
        {canSet && isOn && (
          <Button size="small" busy={set.isPending} onClick={() => turn(false)}>
            Let calls start again
          </Button>
        )}
        {canSet && !isOn && !asked && (
          <Button size="small" look="danger" onClick={() => ask(true)}>
            Stop everything
          </Button>
        )}
      </p>
      <p className="muted small">
        {isOn
          ? "No agent's call starts in this workspace, and nothing that acts on the world."
          : "Stops every call of every agent in this workspace from starting, from the moment that it is set."}
      </p>
      {asked && (
        <>
          <label className="check">
            <input type="checkbox" checked={cancel} onChange={(event) => setCancel(event.target.checked)} />
            Cancel the calls that run already, too
          </label>
          <p className="row-head">
            <Button size="small" onClick={() => ask(false)}>
              Let it be
            </Button>
            <Button size="small" look="danger" busy={set.isPending} onClick={() => turn(true)}>
              Stop everything now
            </Button>
          </p>
        </>
      )}
      {set.error && <ErrorNote error={set.error} />}
    </section>
  );
}
