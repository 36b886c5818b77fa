import { defineConfig } from "@playwright/test";

/** Debian's Chromium; another one by its path. */
const executablePath = process.env.OXAGEN_CHROMIUM ?? "/usr/bin/chromium";

export default defineConfig({
  outputDir: "results",
  // One installation, one browser: what runs beside each other here would only wait for each other.
  workers: 1,
  retries: 0,
  // Generous: they only keep a broken test from hanging.
  timeout: 300_000,
  expect: { timeout: 60_000 },
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
