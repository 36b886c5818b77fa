import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { expect, test } from "../src/test.ts";

/** Nothing serious on this page as it is now, in either theme. */
async function isFine(page: Page, what: string) {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const grave = violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
    expect.soft(grave, `${what}, ${colorScheme}`).toEqual([]);
  }
}

test("no page and no card has a serious fault, in light and dark", async ({ person, stage }) => {
  test.setTimeout(240_000);
  const { page } = person;
  await page.goto(stage.addresses.url);
  await isFine(page, "sign in");
  await person.comes();
  await isFine(page, "home");
  await page.getByRole("button", { name: "Options" }).click();
  await isFine(page, "options");
  await page.keyboard.press("Escape");
  await person.begins("show-markdown");
  await expect(person.messages).toContainText("It is enough to look once.");
  await isFine(page, "markdown");
  await person.says("Please count-slowly");
  await expect(person.question).toBeVisible();
  await person.question.press("n");
  await isFine(page, "a question");
  await person.question.getByRole("button", { name: /Approve/ }).click();
  await expect(page.getByRole("log", { name: "Live output" })).toContainText("line 1");
  await isFine(page, "live output");
  await expect(person.messages).toContainText("It printed line 5.");
  await page.getByRole("button", { name: /Show the details/ }).click();
  await page.getByRole("button", { name: "Thoughts" }).click();
  await isFine(page, "a tool call");
  await page.getByRole("button", { name: "Usage" }).click();
  await isFine(page, "usage");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "History" }).click();
  await isFine(page, "history");
  await page.getByRole("button", { name: "Back to now" }).click();
  await person.says("reach-out");
  await expect(person.question).toBeVisible();
  await person.question.press("a");
  await expect(page.getByRole("log", { name: "Live output" })).toContainText("line 1");
  await stage.anotherRunner();
  await expect(person.messages).toContainText("I do not know whether it happened");
  await isFine(page, "a doubt");
  await person.says("fail-now");
  await expect(page.getByText("The turn failed.")).toBeVisible();
  await isFine(page, "a failure");
  await page.goto(`${stage.addresses.url}/approvals`);
  await isFine(page, "approvals");
  for (const section of ["appearance", "tools", "agents", "keys"]) {
    await page.goto(`${stage.addresses.url}/settings/${section}`);
    await expect(page.getByRole("region").last()).toBeVisible();
    await isFine(page, section);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(stage.addresses.url);
  await page.getByRole("button", { name: "Menu" }).click();
  await isFine(page, "the menu");
});

test("on a narrow screen nothing is wider than the screen", async ({ person }) => {
  const { page } = person;
  await page.setViewportSize({ width: 360, height: 740 });
  await person.comes();
  await person.begins("show-markdown");
  await expect(person.messages).toContainText("It is enough to look once.");
  await person.says("Please count-slowly");
  await expect(person.question).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(360);
  const list = await person.messages.evaluate((element) => [element.scrollWidth, element.clientWidth]);
  expect(list[0]).toBeLessThanOrEqual(list[1] ?? 0);
});
