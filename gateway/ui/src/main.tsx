import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { Tooltip } from "radix-ui";
import { StrictMode, useEffect, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./api/queries";
import { session } from "./api/session";
import { forgetTalks } from "./live/talk";
import { SignIn } from "./pages/sign-in";
import { Announcer } from "./parts/announcer";
import { router } from "./router";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/shell.css";

function Page() {
  const key = useSyncExternalStore(session.subscribe, session.key);
  useEffect(() => {
    // Nothing of one key's holder is shown to the next.
    if (!key) {
      queryClient.clear();
      forgetTalks();
    }
  }, [key]);
  return key ? <RouterProvider router={router} key={key} /> : <SignIn />;
}

// A page that is older than the server asks for parts that are gone: the new page has them. Not over and over, though.
addEventListener("vite:preloadError", () => {
  const before = Number(sessionStorage.getItem("oxagen.reloaded") ?? 0);
  if (Date.now() - before < 60_000) return;
  sessionStorage.setItem("oxagen.reloaded", String(Date.now()));
  location.reload();
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <Tooltip.Provider delayDuration={300}>
          <Page />
          <Announcer />
        </Tooltip.Provider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
