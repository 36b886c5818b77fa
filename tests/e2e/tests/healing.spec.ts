import { expect, test } from "../src/test.ts";
import type { Person } from "../src/person.ts";

/** Whether the page is still the one that was marked: it was not loaded anew. */
const mark = (person: Person) => person.page.evaluate(() => Object.assign(window, { marked: true }));
const isMarked = (person: Person) => person.page.evaluate(() => "marked" in window);

test("a connection that breaks while an answer is written heals by itself", async ({ person, stage }) => {
  await person.comes();
  await person.begins("speak-slowly");
  await mark(person);
  await expect(person.messages).toContainText("word word");
  await stage.shut();
  await expect(person.connection).toHaveText("Offline");
  await stage.open();
  await expect(person.connection).toHaveText("Live");
  await expect(person.messages.getByText(/tokens/)).toBeVisible({ timeout: 60_000 });
  const text = await person.messages.locator(".markdown").innerText();
  expect(text.trim().split(/\s+/)).toHaveLength(120);
  expect(await isMarked(person)).toBe(true);
});

test("a network that is away comes back, and what happened meanwhile is there", async ({ person, context }) => {
  await person.comes();
  await person.begins("fall-silent");
  await mark(person);
  await expect(person.messages).toContainText("These are the");
  await context.setOffline(true);
  await expect(person.connection).toHaveText("Offline");
  await context.setOffline(false);
  await expect(person.connection).toHaveText("Live");
  await expect(person.messages).toContainText("before its end.");
  expect(await isMarked(person)).toBe(true);
});

test("a line that falls silent without a word goes on when it can", async ({ person, stage }) => {
  await person.comes();
  await person.begins("speak-slowly");
  await expect(person.messages).toContainText("word word");
  await stage.stall();
  await stage.open();
  await expect(person.messages.getByText(/tokens/)).toBeVisible({ timeout: 60_000 });
  const text = await person.messages.locator(".markdown").innerText();
  expect(text.trim().split(/\s+/)).toHaveLength(120);
});

test("the gateway is killed while a question waits; it comes back and the question is answered", async ({ person, stage }) => {
  await person.comes();
  await person.begins("Please count-slowly");
  await mark(person);
  await person.isAsked();
  await stage.kill();
  await expect(person.connection).toHaveText("Offline");
  await person.question.press("a");
  await expect(person.question.getByRole("alert")).toContainText("cannot be reached");
  await stage.start();
  await expect(person.connection).toHaveText("Live");
  await person.question.press("a");
  await expect(person.messages).toContainText("It printed line 5.");
  expect(await isMarked(person)).toBe(true);
  const { calls } = await stage.rows(person.conversation());
  expect(calls).toMatchObject([{ status: "completed" }]);
});

test("a message that is sent while nobody answers is kept, and sent once", async ({ person, stage }) => {
  await person.comes();
  const composer = person.page.locator("form", { has: person.message });
  await stage.shut();
  await person.says("only-once, please");
  await expect(composer.getByRole("alert")).toContainText("cannot be reached");
  await expect(person.message).toHaveValue("only-once, please");
  await stage.open();
  await composer.getByRole("button", { name: "Try again" }).click();
  await person.page.waitForURL(/\/c\//);
  await expect(person.messages).toContainText("You said: “only-once, please”.");
  await expect(person.page.getByRole("link", { name: "only-once, please" })).toHaveCount(1);
});
