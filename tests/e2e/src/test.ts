/** What every browser test has: the stage, and a person at a page. */
import { test as base, expect, type Page } from "@playwright/test";
import { Person } from "./person.ts";
import { SCRIPT } from "./script.ts";
import { Stage } from "./stage.ts";

export const test = base.extend<{ person: Person }, { stage: Stage }>({
  stage: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the parameter's pattern
    async ({}, use) => {
      const stage = await Stage.start();
      const script = new URL("/__script", stage.addresses.model);
      const answer = await fetch(script, { method: "PUT", body: JSON.stringify(SCRIPT), headers: { "content-type": "application/json" } });
      if (!answer.ok) throw new Error(`the script was not taken: ${await answer.text()}`);
      await use(stage);
      await stage.end();
    },
    { scope: "worker", timeout: 600_000 },
  ],
  person: async ({ page, stage }, use) => {
    // Nothing of what other tests have left is to be seen.
    await stage.workspace();
    const problems = watch(page);
    await use(new Person(page, stage));
    // Whatever a test did: nothing of it may be an error to the page, and the key may be in no address.
    expect(problems).toEqual([]);
  },
});

export { expect };

/** Errors of the page, and addresses with the key in them. */
function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(`${error.name}: ${error.message}`));
  page.on("request", (request) => request.url().includes("oxk_") && problems.push(`the key is in ${request.url()}`));
  page.on("console", (message) => {
    // A network that is cut by a test says so here.
    const isNetwork = /net::|Failed to load resource/.test(message.text());
    if (message.type() === "error" && !isNetwork) problems.push(`console: ${message.text()}`);
    if (message.text().includes("oxk_")) problems.push("the key is in the console");
  });
  return problems;
}
