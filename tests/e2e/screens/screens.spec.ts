/** Pictures of every page and card, light and dark, wide and narrow: `make screens` writes them to docs/screens. */
import { resolve } from "node:path";
import type { Page } from "@playwright/test";
import type { Person } from "../src/person.ts";
import { expect, test } from "../src/test.ts";

const FOLDER = resolve(import.meta.dirname, "../../../docs/screens");

const WIDTHS = [
  { name: "wide", width: 1280, height: 800 },
  { name: "narrow", width: 360, height: 740 },
];
const THEMES = ["light", "dark"] as const;

/** The same moment in every form. */
async function shoot(page: Page, name: string) {
  for (const { name: size, width, height } of WIDTHS) {
    await page.setViewportSize({ width, height });
    for (const theme of THEMES) {
      await page.emulateMedia({ colorScheme: theme, reducedMotion: "reduce" });
      // The pointer rests nowhere, so that nothing is shown as hovered.
      await page.mouse.move(0, 0);
      await page.waitForTimeout(120);
      await page.screenshot({ path: `${FOLDER}/${name}-${size}-${theme}.png` });
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function open(person: Person, name: RegExp) {
  await person.page.getByRole("button", { name }).first().click();
}

test("sign in", async ({ page, stage }) => {
  await page.goto(stage.addresses.url);
  await expect(page.getByLabel("API key")).toBeVisible();
  await shoot(page, "sign-in");
});

test("the first page, a conversation and its cards", async ({ person }) => {
  test.setTimeout(300_000);
  const { page } = person;
  await person.comes();
  await expect(page.getByText("What would you like done?")).toBeVisible();
  await shoot(page, "home");

  await person.begins("show-markdown");
  await expect(person.messages).toContainText("It is enough to look once.");
  await expect(page.locator(".hljs-keyword").first()).toBeVisible();
  await shoot(page, "markdown");

  await page.getByRole("link", { name: "New conversation" }).click();
  const counting = await person.begins("Please print-then-wait for me");
  await person.isAsked();
  await shoot(page, "approval");
  await person.question.press("a");
  await expect(person.output).toContainText("line 3");
  await shoot(page, "live-output");
  await person.stage.go(counting);
  await expect(person.messages).toContainText("The last line was woke up.");
  await shoot(page, "answered");
  await open(person, /Show the details/);
  await shoot(page, "tool-call");

  await open(person, /^History/);
  await page.getByRole("slider").fill("10");
  await shoot(page, "history");
  await page.getByRole("button", { name: "Back to now" }).click();
  await open(person, /^Usage/);
  await shoot(page, "usage");
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("delete-everything, will you");
  await person.isAsked();
  await person.question.press("n");
  await page.keyboard.type("Not before Friday.");
  await person.question.getByRole("button", { name: /Deny/ }).click();
  await expect(person.messages).toContainText("Understood");
  await shoot(page, "denied");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("reach-out");
  await person.approves();
  await expect(person.output).toContainText("line 3");
  await person.stage.anotherRunner();
  await expect(person.messages).toContainText("I do not know whether it happened");
  await shoot(page, "in-doubt");
  await page.getByRole("radio", { name: /It happened/ }).check();
  await shoot(page, "in-doubt-settling");
  await page.getByRole("textbox", { name: /Its result/ }).fill('{"stdout": "seen by a person"}');
  await page.getByRole("button", { name: "Settle as done" }).click();
  await expect(person.messages).toContainText("Settled as done by you");
  await shoot(page, "in-doubt-settled");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("fail-now");
  await expect(page.getByText("The turn failed")).toBeVisible();
  await shoot(page, "failed");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("first-words");
  await expect(person.messages).toContainText("These are the");
  await shoot(page, "streaming");
  await page.getByRole("button", { name: /Stop/ }).click();
  await expect(page.getByText("Stopped")).toBeVisible();
  await shoot(page, "stopped");
});

test("a plan from its proposal to its end, with an edited question", async ({ person }) => {
  test.setTimeout(600_000);
  const { page, plan, question } = person;
  await person.comes();
  await page.getByRole("radio", { name: "Plan" }).check();
  await page.getByRole("textbox", { name: "Message" }).fill("Please carry-out what you planned");
  await shoot(page, "composer-plan");
  const id = await person.begins("Please carry-out what you planned");
  await expect(plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await shoot(page, "plan");
  await plan.getByRole("button", { name: /Amend/ }).click();
  await expect(plan.getByRole("textbox", { name: "code" })).toBeVisible();
  await plan.getByRole("textbox", { name: "code" }).fill("print('as amended', 6 * 7)");
  await plan.scrollIntoViewIfNeeded();
  await shoot(page, "plan-amending");
  await plan.getByRole("button", { name: "Save as version 2" }).click();
  await expect(plan).toContainText("version 2");
  await shoot(page, "plan-amended");
  await plan.getByRole("button", { name: /^Approve/ }).click();
  await person.isAsked();
  await shoot(page, "drift");
  await question.press("e");
  await expect(question.getByRole("textbox", { name: "code" })).toBeVisible();
  await shoot(page, "approval-editing");
  await question.getByRole("radio", { name: "JSON" }).check();
  await question.getByRole("textbox", { name: "Arguments as JSON" }).fill(
    JSON.stringify({ language: "python", code: "print('edited')\n" }, null, 2),
  );
  await shoot(page, "approval-editing-json");
  await question.press("r");
  await question.getByRole("radio", { name: /calls like this one/ }).check();
  await shoot(page, "approval-remember");
  await question.getByRole("radio", { name: "Ask me again" }).check();
  await question.getByRole("button", { name: /Approve as edited/ }).click();
  await expect(person.messages).toContainText("edited");
  await person.isAsked();
  await question.getByRole("button", { name: /Deny/ }).click();
  await expect(person.messages).toContainText("I left that.");
  await plan.scrollIntoViewIfNeeded();
  await shoot(page, "plan-carried-out");
  await page.goto(`${person.stage.addresses.url}/c/${id}`);
  await expect(person.messages).toContainText("I left that.");
});

test("the inbox and the settings", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("two-things");
  await expect(person.question).toHaveCount(2);
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByRole("radio", { name: "Plan" }).check();
  await person.begins("A rejected-plan, please");
  await expect(person.plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await page.getByRole("link", { name: /Approvals/ }).click();
  await expect(person.question).toHaveCount(2);
  await shoot(page, "approvals");
  await page.getByRole("checkbox", { name: "All" }).check();
  await shoot(page, "approvals-many");
  await person.question.first().press("r");
  await page.getByRole("button", { name: /^Approve/ }).nth(1).click();
  await expect(person.question).toHaveCount(1);
  const { url } = person.stage.addresses;
  for (const section of ["appearance", "tools", "policy", "standing", "agents", "keys"]) {
    await page.goto(`${url}/settings/${section}`);
    await expect(page.locator(".rows li, .choices label, .panel").first()).toBeVisible();
    await shoot(page, `settings-${section}`);
  }
  await page.goto(`${url}/settings/policy`);
  const explain = page.getByRole("form", { name: "Explain" });
  await explain.getByRole("button", { name: "Explain" }).click();
  await expect(explain.getByRole("status")).toBeVisible();
  await explain.getByRole("status").scrollIntoViewIfNeeded();
  await shoot(page, "settings-policy-explained");
  await page.getByRole("region", { name: "In force" }).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("region", { name: "In force" }).scrollIntoViewIfNeeded();
  await shoot(page, "settings-policy-editing");
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Stop everything" }).click();
  await page.getByRole("button", { name: "Stop everything now" }).click();
  await expect(page.getByText("Everything is stopped")).toBeVisible();
  await shoot(page, "settings-policy-stopped");
});

test("the menu on a narrow screen, and a page that is not there", async ({ person }) => {
  const { page } = person;
  await person.comes("/nowhere");
  await expect(page.getByText("There is no such page")).toBeVisible();
  await shoot(page, "not-found");
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(person.stage.addresses.url);
  await open(person, /^Menu/);
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await page.screenshot({ path: `${FOLDER}/menu-narrow-dark.png` });
});
