/** One conversation from its plan to its end, through everything that can come between; and the same by keyboard alone. */
import type { Locator } from "@playwright/test";
import { Person } from "../src/person.ts";
import { held } from "../src/script.ts";
import type { Rows, Stage } from "../src/stage.ts";
import { expect, test } from "../src/test.ts";

const AMENDED = "print('as amended', 6 * 7)";
const EDITED = held("edited line", "edited to the end");

/** Loaded anew, it is the same page. */
async function reload(person: Person) {
  const { page, stage } = person;
  const other = new Person(await page.context().newPage(), stage);
  await other.page.goto(page.url());
  await expect(other.connection).toHaveText("Live");
  // Both may still change for a moment, and come to the same.
  await expect(async () => expect(await other.sees()).toBe(await person.sees())).toPass();
  await other.page.close();
  await page.reload();
  await expect(person.connection).toHaveText("Live");
}

async function cut(person: Person, stage: Stage) {
  await stage.shut();
  await expect(person.connection).toHaveText("Offline");
  await stage.open();
  await expect(person.connection).toHaveText("Live");
}

/** Everything ended as the person wanted it, in all three stores, once. */
function isAsWanted({ calls, invocations, edges, messages }: Rows) {
  expect(calls.map(({ capability, status }) => [capability, status])).toEqual([
    ["agent.plan.create", "completed"],
    ["agent.code.execute", "completed"],
    ["agent.code.execute", "completed"],
    ["agent.code.execute", "denied"],
  ]);
  const [, planned, edited, denied] = calls;
  expect([planned?.plan_step, planned?.edited]).toEqual(["compute", false]);
  expect([edited?.plan_step, edited?.edited]).toEqual([null, true]);
  expect([denied?.plan_step, denied?.edited]).toEqual([null, false]);
  const byId = (rows: { id: string; status: string }[]) =>
    Object.fromEntries(rows.map(({ id, status }) => [id, status]));
  expect(byId(invocations.map(({ call_id, status }) => ({ id: call_id, status })))).toEqual(byId(calls));
  expect(edges).toBe(4);
  // A question and its answer, and nothing twice.
  const [question, answer] = messages;
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  expect(question?.parent_message_id).toBeNull();
  expect(answer?.parent_message_id).toBe(question?.id);
  expect(answer?.turn_id).toBe(question?.turn_id);
}

test("a plan, its amendment, an edited call, a refusal: through reloads, cuts and a killed gateway", async ({
  person,
  stage,
}) => {
  const { page, plan, question } = person;
  await person.comes();
  await page.getByRole("radio", { name: "Plan" }).check();
  const id = await person.begins("Please carry-out what you planned");

  await expect(plan).toContainText("Two numbers and a word");
  await expect(plan.getByRole("listitem")).toHaveCount(3);
  await expect(plan).toContainText("after 1, 2");
  await expect(plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await reload(person);

  await plan.getByRole("button", { name: /Amend/ }).click();
  await plan.getByRole("textbox", { name: "code" }).fill(AMENDED);
  await plan.getByRole("button", { name: "Save as version 2" }).click();
  await expect(plan).toContainText("version 2");
  await expect(plan).toContainText("changed");
  await cut(person, stage);
  await plan.getByRole("button", { name: /^Approve/ }).click();

  // The amended step runs without another question; what is not in the plan is asked about.
  await person.isAsked();
  await expect(person.messages).toContainText("as amended 42");
  await expect(plan).toContainText("Approved by you");
  await expect(plan.getByRole("listitem").first()).toContainText("done");
  await expect(question).toContainText("not in the approved plan");
  await stage.kill();
  await expect(person.connection).toHaveText("Offline");
  await stage.start();
  await expect(person.connection).toHaveText("Live");

  await question.getByRole("button", { name: /Edit/ }).click();
  await question.getByRole("textbox", { name: "code" }).fill(EDITED);
  await question.getByRole("button", { name: /Approve as edited/ }).click();
  await expect(person.output).toContainText("edited line 3");
  await reload(person);
  await expect(person.output).toContainText("edited line 3");
  await cut(person, stage);
  await expect(person.output).toContainText("edited line 3");
  await stage.go(id);

  await person.isAsked();
  await expect(person.messages).toContainText("edited to the end");
  await question.getByRole("button", { name: /Add a note/ }).click();
  await question.getByRole("textbox", { name: /Note/ }).fill("Not before Friday.");
  await question.getByRole("button", { name: /Deny/ }).click();
  await expect(person.messages).toContainText("I left that. You said: A person refused this call and said: Not before Friday.");
  await expect(person.messages).toContainText("with other arguments");
  await expect(person.messages.getByText(/tokens/)).toBeVisible();
  await reload(person);

  isAsWanted(await stage.rows(id));
  await everyFact(person);
});

/** Each point of the conversation, gone to in the page and loaded anew, is the same; the last one is the page as it is. */
async function everyFact(person: Person) {
  const { page } = person;
  const now = await person.sees();
  await page.getByRole("button", { name: "History" }).click();
  const slider = page.getByRole("slider", { name: "Point in history" });
  await expect(slider).toBeVisible();
  const last = Number(await slider.getAttribute("max"));
  expect(last).toBeGreaterThan(30);
  const other = new Person(await page.context().newPage(), person.stage);
  for (let fact = 1; fact <= last; fact += 1) {
    await slider.fill(String(fact));
    await expect(page.getByText(`${fact} of ${last}`)).toBeVisible();
    await other.page.goto(page.url());
    await expect(other.page.getByText(`${fact} of ${last}`)).toBeVisible();
    // What is still loaded bit by bit, as colours of code, comes to the same.
    const shown = async (person: Person) => ((await person.messages.count()) > 0 ? person.sees() : "nothing");
    await expect.poll(async () => (await shown(other)) === (await shown(person)), `at fact ${fact}`).toBe(true);
  }
  await other.page.close();
  await page.getByRole("button", { name: "Back to now" }).click();
  await expect.poll(() => person.sees()).toBe(now);
}

/** Goes there as somebody without a mouse does. */
async function tabTo(target: Locator) {
  for (let steps = 0; steps < 80; steps += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await target.page().keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${target}`);
}

async function retype(target: Locator, text: string) {
  await tabTo(target);
  await target.page().keyboard.press("Control+a");
  await target.page().keyboard.insertText(text);
}

test("the same by keyboard alone", async ({ person, stage }) => {
  const { page, plan, question } = person;
  await person.comes();
  const keys = page.keyboard;
  await expect(person.message).toBeFocused();
  await keys.press("Alt+p");
  await expect(page.getByRole("radio", { name: "Plan" })).toBeChecked();
  await keys.type("Please carry-out what you planned");
  await keys.press("Enter");
  await page.waitForURL(/\/c\//);

  await expect(plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await keys.press("Alt+a");
  await expect(plan).toBeFocused();
  await keys.press("e");
  await expect(plan.getByRole("textbox", { name: "What is done" })).toBeFocused();
  await retype(plan.getByRole("textbox", { name: "code" }), AMENDED);
  await tabTo(plan.getByRole("button", { name: "Save as version 2" }));
  await keys.press("Enter");
  await expect(plan).toContainText("version 2");
  await expect(plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
  await keys.press("Alt+a");
  await expect(plan).toBeFocused();
  await keys.press("a");

  await person.isAsked();
  await keys.press("Alt+a");
  await expect(question).toBeFocused();
  await keys.press("e");
  const form = question.getByRole("radio", { name: "Form" });
  await expect(form).toBeVisible();
  await tabTo(form);
  await keys.press("ArrowRight");
  await expect(question.getByRole("radio", { name: "JSON" })).toBeChecked();
  const edited = JSON.stringify({ language: "python", code: EDITED, timeoutMs: 300_000 });
  await retype(question.getByRole("textbox", { name: "Arguments as JSON" }), edited);
  await tabTo(question.getByRole("button", { name: /Approve as edited/ }));
  await keys.press("Enter");
  await expect(person.output).toContainText("edited line 3");
  await stage.go(person.conversation());

  await person.isAsked();
  await keys.press("Alt+a");
  await expect(question).toBeFocused();
  await keys.press("n");
  await expect(question.getByRole("textbox", { name: /Note/ })).toBeFocused();
  await keys.type("Not before Friday.");
  await keys.press("Control+Enter");
  await expect(person.messages).toContainText("and said: Not before Friday.");
  await expect(person.messages.getByText(/tokens/)).toBeVisible();
  isAsWanted(await stage.rows(person.conversation()));
});
