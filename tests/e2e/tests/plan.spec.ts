import { expect, test } from "../src/test.ts";
import type { Person } from "../src/person.ts";

/** Asks for a plan, up to the point where it can be answered. */
async function plans(person: Person, text: string) {
  await person.comes();
  await person.page.getByRole("radio", { name: "Plan" }).check();
  await person.begins(text);
  await expect(person.plan.getByRole("button", { name: /^Approve/ })).toBeEnabled();
}

test("an approved plan is carried out without another question, and its steps follow the calls", async ({ person }) => {
  await plans(person, "Please keep-to-it");
  await person.plan.press("a");
  await expect(person.messages).toContainText("Both are done.");
  const steps = person.plan.getByRole("listitem");
  await expect(steps.nth(0)).toContainText("done");
  await expect(steps.nth(1)).toContainText("done");
  await expect(person.messages.getByText("as planned")).toHaveCount(2);
  await expect(person.plan.getByRole("group", { name: "Not in the plan" })).toHaveCount(0);
  await steps.nth(1).getByRole("button", { name: "Show the arguments of step 2" }).click();
  await expect(steps.nth(1)).toContainText("print(2)");
});

test("a plan is rejected with a note, which the agent reads", async ({ person }) => {
  await plans(person, "A rejected-plan, please");
  await person.plan.press("n");
  await person.plan.getByRole("textbox", { name: /Note/ }).fill("Too bold.");
  await person.plan.getByRole("button", { name: /Reject/ }).click();
  await expect(person.messages).toContainText("Then not. You said: A person refused this call and said: Too bold.");
  await expect(person.plan).toContainText("Rejected by you");
  await expect(person.plan.getByRole("button", { name: /Approve|Amend/ })).toHaveCount(0);
});

test("a plan is amended: steps added, taken out and changed; what does not fit is refused in its place", async ({ person }) => {
  const { page, plan } = person;
  await plans(person, "Please keep-to-it");
  await plan.press("e");
  await plan.getByRole("button", { name: "Take out step 2" }).click();
  await plan.getByText("Other arguments").click();
  await plan.getByRole("spinbutton", { name: "timeoutMs" }).fill("5");
  await plan.getByRole("button", { name: "Save as version 2" }).click();
  await expect(plan.getByRole("spinbutton", { name: "timeoutMs" })).toHaveAttribute("aria-invalid", "true");
  await plan.getByRole("spinbutton", { name: "timeoutMs" }).fill("");
  await plan.getByRole("button", { name: "Add a step" }).click();
  await plan.getByRole("textbox", { name: "What is done" }).fill("Look at the tools");
  await plan.getByRole("combobox", { name: "Tool" }).selectOption("agent.tool.list");
  await plan.getByRole("button", { name: "Save as version 2" }).click();
  await expect(plan).toContainText("version 2");
  await expect(plan.getByRole("listitem")).toHaveCount(2);
  await expect(plan.getByRole("listitem").nth(1)).toContainText("2. Look at the tools");
  await expect(plan.getByRole("listitem").nth(1)).toContainText("new");
  // Another version wants an answer of its own.
  await plan.getByRole("button", { name: /^Approve/ }).click();
  await person.isAsked();
  await expect(plan.getByRole("group", { name: "Not in the plan" })).toContainText("waits for approval");
  await page.reload();
  await expect(plan).toContainText("Approved by you");
});

test("plans and questions wait together in the inbox, and many are answered at once", async ({ person }) => {
  const { page } = person;
  await plans(person, "A rejected-plan, please");
  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("two-things");
  await expect(person.question).toHaveCount(2);
  const inbox = page.getByRole("link", { name: /Approvals/ });
  await expect(inbox).toContainText("3");
  await inbox.click();
  await expect(page.getByRole("group", { name: /Something bold/ })).toBeVisible();
  await page.getByRole("checkbox", { name: "All" }).check();
  await page.getByRole("button", { name: "Deny 3" }).click();
  await expect(page.getByText("Nothing waits for you")).toBeVisible();
  await page.getByRole("link", { name: "A rejected-plan, please" }).click();
  await expect(person.plan).toContainText("rejected");
  await page.reload();
  await expect(person.plan).toContainText("Rejected by you");
});

test("the first message is said differently, too", async ({ person, stage }) => {
  const { page } = person;
  await person.comes();
  const id = await person.begins("first thought");
  await expect(person.messages).toContainText("You said: “first thought”.");
  await expect(person.messages.getByText(/tokens/)).toBeVisible();
  await page.getByRole("article").hover();
  await page.getByRole("button", { name: "Edit and branch" }).click();
  await page.getByRole("article").getByRole("textbox", { name: "Message" }).fill("second thought");
  await page.getByRole("button", { name: "Send as a new branch" }).click();
  await expect(person.messages).toContainText("You said: “second thought”.");
  await expect(page.getByText("2 of 2")).toBeVisible();
  await page.getByRole("button", { name: "The branch before" }).click();
  await expect(person.messages).toContainText("You said: “first thought”.");
  await expect.poll(async () => (await stage.rows(id)).messages.length).toBe(4);
  const { messages } = await stage.rows(id);
  const beginnings = messages.filter((message) => message.parent_message_id === null);
  expect(beginnings.map((message) => message.role)).toEqual(["user", "user"]);
});
