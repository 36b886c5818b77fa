import { defineConfig } from "@playwright/test";

/** Debian's Chromium; another one by its path. */
const executablePath = process.env.OXAGEN_CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  outputDir: "results",
  // One installation, one browser: what runs beside each other here would only wait for each other.
  workers: 1,
  retries: 0,
  timeout: 90_000,
  expect: { timeout: 20_000 },
  reporter: [["list"]],
  use: {
    browserName: "chromium",
    launchOptions: { executablePath },
    viewport: { width: 1280, height: 800 },
    trace: "retain-on-failure",
    screenshot: "only-on-failure",
  },
  projects: [
    { name: "tests", testDir: "tests" },
    { name: "screens", testDir: "screens" },
    { name: "measure", testDir: "measure" },
  ],
});
