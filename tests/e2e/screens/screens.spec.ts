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
  await person.begins("Please count-slowly for me");
  await expect(person.question).toBeVisible();
  await shoot(page, "approval");
  await person.question.press("a");
  await expect(page.getByRole("log", { name: "Live output" })).toContainText("line 1");
  await shoot(page, "live-output");
  await expect(person.messages).toContainText("It printed line 5.");
  await shoot(page, "answered");
  await open(person, /Show the details/);
  await shoot(page, "tool-call");

  await open(person, /^History/);
  await page.getByRole("slider").fill("9");
  await shoot(page, "history");
  await page.getByRole("button", { name: "Back to now" }).click();
  await open(person, /^Usage/);
  await shoot(page, "usage");
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("delete-everything, will you");
  await person.question.press("n");
  await page.keyboard.type("Not before Friday.");
  await person.question.getByRole("button", { name: /Deny/ }).click();
  await expect(person.messages).toContainText("Understood");
  await shoot(page, "denied");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("reach-out");
  await person.question.press("a");
  await expect(page.getByRole("log", { name: "Live output" })).toContainText("line 1");
  await person.stage.anotherRunner();
  await expect(person.messages).toContainText("I do not know whether it happened");
  await shoot(page, "in-doubt");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("fail-now");
  await expect(page.getByText("The turn failed.")).toBeVisible();
  await shoot(page, "failed");

  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("speak-slowly");
  await expect(person.messages).toContainText("word word");
  await shoot(page, "streaming");
  await page.getByRole("button", { name: /Stop/ }).click();
  await expect(page.getByText("Stopped.")).toBeVisible();

});

test("the inbox and the settings", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("two-things");
  await expect(person.question).toHaveCount(2);
  await page.getByRole("link", { name: /Approvals/ }).click();
  await expect(person.question).toHaveCount(2);
  await shoot(page, "approvals");
  for (const section of ["Appearance", "Tools", "Agents", "Keys"]) {
    await page.goto(`${person.stage.addresses.url}/settings/${section.toLowerCase()}`);
    await expect(page.getByRole("region", { name: section })).toBeVisible();
    await expect(page.locator(".rows li, .choices label").first()).toBeVisible();
    await shoot(page, `settings-${section.toLowerCase()}`);
  }
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
