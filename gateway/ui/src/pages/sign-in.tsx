/** Who are you? A key answers. */
import { useMutation } from "@tanstack/react-query";
import { KeyRound } from "lucide-react";
import { useState } from "react";
import { api, data } from "../api/client";
import { Problem } from "../api/problem";
import { session } from "../api/session";
import { Button } from "../parts/button";
import { ErrorNote } from "../parts/states";
import { useTitle } from "../parts/title";

export function SignIn() {
  const [key, setKey] = useState("");
  const [remember, setRemember] = useState(false);
  useTitle("Sign in");
  const ended = session.ended();
  const enter = useMutation({
    mutationFn: async () => {
      const headers = { authorization: `Bearer ${key.trim()}` };
      await data(api.GET("/v1/me", { headers })).catch((error: unknown) => {
        const isWrong = error instanceof Problem && error.status === 401;
        throw isWrong ? new Error("This key opens nothing: it is mistyped or was revoked.") : error;
      });
    },
    onSuccess: () => session.signIn(key.trim(), remember),
  });
  return (
    <main className="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          enter.mutate();
        }}
      >
        <img src="/favicon.svg" alt="" width={44} height={44} />
        <h1>Sign in to Oxagen</h1>
        {ended && !enter.error && <p className="note warn">{ended}</p>}
        {enter.error && <ErrorNote error={enter.error} />}
        <label className="field">
          API key
          <input
            type="password"
            name="key"
            value={key}
            onChange={(event) => setKey(event.target.value)}
            placeholder="oxk_…"
            autoComplete="off"
            spellCheck={false}
            required
            autoFocus
          />
        </label>
        <label className="check">
          <input type="checkbox" checked={remember} onChange={(event) => setRemember(event.target.checked)} />
          Keep me signed in on this device
        </label>
        <Button look="primary" type="submit" busy={enter.isPending}>
          <KeyRound size={16} aria-hidden /> Sign in
        </Button>
        <p className="muted small">
          <code>make up</code> prints a link that signs you in once. Another key is made in Settings, by an
          owner or an admin.
        </p>
      </form>
    </main>
  );
}
