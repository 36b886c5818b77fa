/** Addresses of the page. A new one is a file under `pages` and a line here; the gateway serves the page at any. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Home } from "./pages/home";
import { NotFound } from "./pages/not-found";
import { Shell } from "./pages/shell";
import { ErrorNote } from "./parts/states";

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });

const home = createRoute({ getParentRoute: () => root, path: "/", component: Home });

export const conversation = createRoute({
  getParentRoute: () => root,
  path: "/c/$id",
  // A point of the past is part of the address, so that a reload shows it again.
  validateSearch: (search): { at?: number } => {
    const at = Number(search.at);
    return Number.isInteger(at) && at > 0 ? { at } : {};
  },
  component: lazyRouteComponent(() => import("./pages/conversation"), "ConversationPage"),
});

const approvals = createRoute({
  getParentRoute: () => root,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./pages/approvals"), "ApprovalsPage"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: lazyRouteComponent(() => import("./pages/settings"), "SettingsPage"),
});

const settingsSection = createRoute({
  getParentRoute: () => root,
  path: "/settings/$section",
  component: lazyRouteComponent(() => import("./pages/settings"), "SettingsPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([home, conversation, approvals, settings, settingsSection]),
  defaultPreload: "intent",
  defaultErrorComponent: ({ error }) => <ErrorNote error={error} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
