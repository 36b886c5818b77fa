import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";
import { idlePage } from "../src/idle.ts";
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

test("no page and no card has a serious fault; meanwhile an idle page only listens", async ({ person, stage, browser }) => {
  test.setTimeout(900_000);
  const { page } = person;
  const wasIdle = await idlePage(browser, stage);
  // What happens from here on happens in another workspace.
  await stage.workspace();
  await page.goto(stage.addresses.url);
  await isFine(page, "sign in");
  await person.comes();
  await isFine(page, "home");
  await page.getByRole("button", { name: "Options" }).click();
  await isFine(page, "options");
  await page.keyboard.press("Escape");
  const conversation = await person.begins("show-markdown");
  await expect(person.messages).toContainText("It is enough to look once.");
  await isFine(page, "markdown");
  await person.says("Please print-then-wait");
  await person.isAsked();
  await person.question.press("n");
  await isFine(page, "a question");
  await person.question.getByRole("button", { name: /Approve/ }).click();
  await expect(person.output).toContainText("line 3");
  await isFine(page, "live output");
  await stage.go(conversation);
  await expect(person.messages).toContainText("The last line was woke up.");
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
  await person.approves();
  await expect(person.output).toContainText("line 3");
  await stage.anotherRunner();
  await expect(person.messages).toContainText("I do not know whether it happened");
  await isFine(page, "a doubt");
  await person.says("fail-now");
  await expect(page.getByText("The turn failed")).toBeVisible();
  await isFine(page, "a failure");
  await page.goto(`${stage.addresses.url}/approvals`);
  await isFine(page, "approvals");
  for (const section of ["appearance", "tools", "policy", "standing", "agents", "keys"]) {
    await page.goto(`${stage.addresses.url}/settings/${section}`);
    await expect(page.getByRole("region").last()).toBeVisible();
    await isFine(page, section);
  }
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(stage.addresses.url);
  await page.getByRole("button", { name: "Menu" }).click();
  await isFine(page, "the menu");
  await wasIdle(60_000);
});

test("nor have plans, edited questions and the inbox", async ({ person, stage }) => {
  test.setTimeout(900_000);
  const { page, plan, question } = person;
  await person.comes();
  await page.getByRole("radio", { name: "Plan" }).check();
  await person.begins("Please carry-out what you planned");
  await expect(plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await plan.getByRole("button", { name: "Show the arguments of step 1" }).click();
  await isFine(page, "a plan");
  await page.goto(`${stage.addresses.url}/approvals`);
  await expect(plan).toBeVisible();
  await isFine(page, "a plan in the inbox");
  await page.goBack();
  await plan.getByRole("button", { name: /Amend/ }).click();
  await expect(plan.getByRole("textbox", { name: "code" })).toBeVisible();
  await isFine(page, "a plan that is amended");
  await plan.getByRole("button", { name: "Leave as it is" }).click();
  await plan.getByRole("button", { name: /^Approve/ }).click();
  await person.isAsked();
  await question.press("e");
  await question.press("r");
  await question.getByRole("radio", { name: /calls like this one/ }).check();
  await expect(question.getByRole("textbox", { name: "code" })).toBeVisible();
  await isFine(page, "an edited question, and drift");
  await question.getByRole("radio", { name: "JSON" }).check();
  await isFine(page, "a question as JSON");
});

test("on a narrow screen nothing is wider than the screen", async ({ person }) => {
  const { page } = person;
  await page.setViewportSize({ width: 360, height: 740 });
  await person.comes();
  await person.begins("show-markdown");
  await expect(person.messages).toContainText("It is enough to look once.");
  await person.says("Please count-slowly");
  await person.isAsked();
  await person.question.press("e");
  await expect(person.question.getByRole("textbox", { name: "code" })).toBeVisible();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(wide).toBeLessThanOrEqual(360);
  const list = await person.messages.evaluate((element) => [element.scrollWidth, element.clientWidth]);
  expect(list[0]).toBeLessThanOrEqual(list[1] ?? 0);
});
