import { expect, test } from "../src/test.ts";

test("a person is asked, approves with the keyboard alone, and sees live output and the answer", async ({ person, stage }) => {
  const { page } = person;
  await person.comes();
  await expect(person.message).toBeFocused();
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await expect(person.messages).toContainText("You said: “hello”.");
  // Who follows the conversation live is told what the agent asks.
  await expect(person.connection).toHaveText("Live");
  await expect(person.message).toBeFocused();
  await page.keyboard.type("Please print-then-wait");
  await page.keyboard.press("Enter");

  await expect(person.question).toContainText("Run Python");
  await expect(person.question).toContainText('print("line", n, flush=True)');
  await person.isAsked();
  await expect(page.getByRole("alert")).toContainText("The agent asks for approval");
  await page.keyboard.press("Alt+a");
  await expect(person.question).toBeFocused();
  await page.keyboard.press("a");

  await expect(person.output).toContainText("line 2");
  await stage.go(person.conversation());
  await expect(person.messages).toContainText("The last line was woke up.");
  await expect(page.getByText("Approved by you")).toBeVisible();
  await expect(person.question).toHaveCount(0);

  const { calls, invocations, edges } = await stage.rows(person.conversation());
  expect(calls).toMatchObject([{ capability: "agent.code.execute", status: "completed" }]);
  expect(invocations).toMatchObject([{ status: "completed" }]);
  expect(edges).toBe(1);
});

test("a person denies with a note, by keyboard, and the agent reads it", async ({ person, stage }) => {
  const { page } = person;
  await person.comes();
  await person.begins("delete-everything");
  await person.isAsked();
  await page.keyboard.press("Alt+a");
  await expect(person.question).toBeFocused();
  await page.keyboard.press("n");
  await expect(person.question.getByRole("textbox")).toBeFocused();
  await page.keyboard.type("Not before Friday.");
  await page.keyboard.press("Control+Enter");
  await expect(person.messages).toContainText("said: Not before Friday.");
  await expect(page.getByText("Denied by you")).toBeVisible();
  const { calls } = await stage.rows(person.conversation());
  expect(calls).toMatchObject([{ status: "denied" }]);
});

test("a card shows what was run, with what, and all that came of it", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("broken-code, please");
  await person.question.getByRole("button", { name: /Approve/ }).click();
  await expect(person.messages).toContainText("It broke with an error.");
  const card = page.getByRole("region", { name: "Tool call: Run Python" });
  await expect(card).toContainText("it broke");
  await card.getByRole("button", { name: /Show the details/ }).click();
  await expect(card).toContainText("exit code 1");
  await expect(card).toContainText("sys.exit('it broke')");
  await expect(card).toContainText("so far");
});

test("a result that is too large to travel is shown whole on demand", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("large-output, please");
  await person.question.getByRole("button", { name: /Approve/ }).click();
  await expect(person.messages).toContainText("That was a lot.");
  await page.getByRole("button", { name: /Show the details/ }).click();
  await page.getByRole("button", { name: "Show all of it" }).click();
  await expect(person.messages).toContainText("row 19999");
});

test("what a model writes can neither run nor fetch anything", async ({ person }) => {
  const { page } = person;
  const elsewhere: string[] = [];
  page.on("request", (request) => request.url().includes("evil.example") && elsewhere.push(request.url()));
  await person.comes();
  await person.begins("hostile-text");
  await expect(person.messages).toContainText("done.");
  await expect(person.messages.getByText(/tokens/)).toBeVisible();
  expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  expect(await person.messages.locator("script, img, [onclick], a[href^='javascript']").count()).toBe(0);
  expect(elsewhere).toEqual([]);
});

test("a turn that runs is stopped, and one that fails says why", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("first-words");
  await expect(person.messages).toContainText("These are the");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("Stopped")).toBeVisible();
  await expect(page.getByRole("button", { name: "Stop" })).toHaveCount(0);
  await person.says("fail-now");
  await expect(page.getByText("The turn failed")).toBeVisible();
  await expect(page.getByRole("link", { name: /model_unauthorized/ })).toBeVisible();
});

test("a message for a busy agent waits its turn", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("delete-everything");
  await person.isAsked();
  await person.message.fill("and then this");
  await page.getByRole("button", { name: "Queue" }).click();
  await expect(page.getByText("Waits until the turn before has ended.")).toBeVisible();
  await person.question.getByRole("button", { name: /Deny/ }).click();
  await expect(person.messages).toContainText("Understood, I will not.");
  await expect(person.messages).toContainText("You said: “and then this”.");
});

test("an earlier message is said differently: the conversation branches, and both branches stay", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("hello");
  await expect(person.messages).toContainText("You said: “hello”.");
  await person.says("first thought");
  await expect(person.messages).toContainText("You said: “first thought”.");
  const turn = page.getByRole("article", { name: /first thought/ });
  await turn.hover();
  await turn.getByRole("button", { name: "Edit and branch" }).click();
  await page.getByRole("article").getByRole("textbox", { name: "Message" }).fill("second thought");
  await page.getByRole("button", { name: "Send as a new branch" }).click();
  await expect(person.messages).toContainText("You said: “second thought”.");
  await expect(person.messages).not.toContainText("first thought");
  await expect(page.getByText("2 of 2")).toBeVisible();
  await page.getByRole("button", { name: "The branch before" }).click();
  await expect(person.messages).toContainText("You said: “first thought”.");
  await expect(person.messages).not.toContainText("second thought");
});

test("a call whose runner died is in doubt, and the page says so", async ({ person, stage }) => {
  await person.comes();
  await person.begins("reach-out");
  await person.question.getByRole("button", { name: /Approve/ }).click();
  await expect(person.output).toContainText("line 3");
  await stage.anotherRunner();
  await expect(person.messages).toContainText("This may or may not have happened");
  await expect(person.messages).toContainText("I do not know whether it happened");
  const { calls } = await stage.rows(person.conversation());
  expect(calls).toMatchObject([{ status: "in_doubt", attempt: 1 }]);
});
