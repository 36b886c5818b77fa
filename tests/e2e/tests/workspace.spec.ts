import { expect, test } from "../src/test.ts";

test("many questions are answered at once in the inbox", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("two-things");
  await expect(person.question).toHaveCount(2);
  const inbox = page.getByRole("link", { name: /Approvals/ });
  await expect(inbox).toContainText("2");
  await expect(page).toHaveTitle(/^\(2\)/);
  await inbox.click();
  await page.getByRole("checkbox", { name: "All" }).check();
  await page.getByRole("button", { name: "Deny 2" }).click();
  await expect(page.getByText("Nothing waits for you")).toBeVisible();
  await page.getByRole("link", { name: "two-things" }).click();
  await expect(person.messages).toContainText("Both are answered.");
});

test("the list of conversations is live, searched, renamed and archived", async ({ person, browser, stage }) => {
  const { page } = person;
  await person.comes();
  await person.begins("apples");
  await expect(person.messages).toContainText("You said");
  // Somebody else, elsewhere.
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${stage.addresses.url}/#key=${stage.addresses.key}`);
  await expect(other.getByRole("link", { name: "apples" })).toBeVisible();
  await other.getByRole("textbox", { name: "Message" }).fill("pears");
  await other.getByRole("textbox", { name: "Message" }).press("Enter");
  await expect(page.getByRole("link", { name: "pears" })).toBeVisible();

  await page.keyboard.press("Control+k");
  await page.keyboard.type("APP");
  await expect(page.getByRole("link", { name: "pears" })).toHaveCount(0);
  await expect(page.getByRole("link", { name: "apples" })).toBeVisible();
  await page.keyboard.press("Escape");

  await page.getByRole("link", { name: "apples" }).hover();
  await page.getByRole("button", { name: "More for apples" }).click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("oranges");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("link", { name: "oranges" })).toBeVisible();
  await expect(page.getByRole("heading", { name: "oranges" })).toBeVisible();
  await expect(other.getByRole("link", { name: "oranges" })).toBeVisible();

  await page.getByRole("button", { name: "Archive", exact: true }).click();
  await expect(page.getByText("This conversation is archived")).toBeVisible();
  await expect(other.getByRole("link", { name: "oranges" })).toHaveCount(0);
  await page.getByRole("button", { name: "Archived" }).click();
  await expect(page.getByRole("link", { name: "oranges" })).toBeVisible();
  await other.close();
});

test("a key that only reads can look at everything and change nothing", async ({ person, browser, stage }) => {
  await person.comes();
  const id = await person.begins("two-things");
  await expect(person.question).toHaveCount(2);
  const viewer = await (await browser.newContext()).newPage();
  await viewer.goto(`${stage.addresses.url}/c/${id}#key=${stage.addresses.viewerKey}`);
  await expect(viewer.getByText("Your key (viewer) may not answer.").first()).toBeVisible();
  await expect(viewer.getByText("Your key (viewer) only reads.")).toBeVisible();
  await expect(viewer.getByRole("button", { name: /Approve|Deny|Archive/ })).toHaveCount(0);
  await viewer.close();
});

test("keys are made, shown once and revoked; agents get new versions; tools are told", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Keys" }).click();
  await page.getByLabel("Name").fill("for a friend");
  await page.getByRole("button", { name: "Make a key" }).click();
  const secret = page.locator(".secret code");
  await expect(secret).toHaveText(/^oxk_/);
  const friend = page.getByRole("listitem").filter({ hasText: "for a friend" });
  await friend.getByRole("button", { name: "Revoke" }).click();
  await friend.getByRole("button", { name: "Revoke for good" }).click();
  await expect(friend).toContainText("revoked");
  await page.reload();
  await expect(page.locator(".secret")).toHaveCount(0);

  await page.getByRole("link", { name: "Agents" }).click();
  await page.getByRole("button", { name: "New version" }).click();
  await page.getByLabel(/Instructions/).fill("Answer in one word.");
  await page.getByRole("button", { name: "Publish" }).click();
  await expect(page.getByText("Answer in one word.")).toBeVisible();
  await expect(page.getByText("version 2")).toBeVisible();

  await page.getByRole("link", { name: "Tools" }).click();
  await expect(page.getByText("agent.code.execute")).toBeVisible();
  await expect(page.getByText("asks first").first()).toBeVisible();
});
