/** A page on which nothing happens, behind the unhelpful sort of proxy, while a test does other things elsewhere. */
import { type Browser, expect } from "@playwright/test";
import { bufferingProxy } from "./buffering-proxy.ts";
import { Person } from "./person.ts";
import type { Stage } from "./stage.ts";

/** What is silent for longer is ended by the proxy; signs of life come every 15 seconds. */
const IDLE_LIMIT = 45_000;

/** Leaves the page in a conversation that waits for its person. Gives what judges it, once it was idle for so long. */
export async function idlePage(browser: Browser, stage: Stage): Promise<(ms: number) => Promise<void>> {
  const proxy = await bufferingProxy(stage.addresses.direct, IDLE_LIMIT);
  const context = await browser.newContext();
  const person = new Person(await context.newPage(), stage);
  await person.page.goto(`${proxy.url}/#key=${stage.addresses.key}`);
  await person.begins("delete-everything");
  await person.isAsked();
  await expect(person.connection).toHaveText("Live");
  const asked = await person.comesToRest();
  const since = Date.now();
  return async (ms) => {
    await person.page.waitForTimeout(Math.max(0, since + ms - Date.now()));
    // The two streams are the same as before: nothing was asked for, and nobody had to come back.
    expect(asked).toEqual([]);
    await expect(person.connection).toHaveText("Live");
    await person.question.getByRole("button", { name: /Deny/ }).click();
    await expect(person.messages).toContainText("Understood, I will not.");
    await context.close();
    await proxy.end();
  };
}
