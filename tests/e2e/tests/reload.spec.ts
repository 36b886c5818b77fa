import { Person } from "../src/person.ts";
import { expect, test } from "../src/test.ts";

test("a reload at any moment shows the same as never having left", async ({ person, context, stage }) => {
  const { page } = person;
  await person.comes();
  const conversation = await person.begins("two-halves");
  // Somebody who comes now and never leaves.
  const other = new Person(await context.newPage(), stage);
  await other.comes(`/c/${conversation}`);
  const same = async () => {
    await page.reload();
    await expect(person.connection).toHaveText("Live");
    // Both may still change for a moment, and come to the same.
    await expect(async () => expect(await person.sees()).toBe(await other.sees())).toPass();
  };

  // While the model is in the middle of a sentence.
  await expect(person.messages.locator(".markdown")).toHaveText("These are the first words of a");
  await same();
  await expect(person.messages.locator(".markdown")).toHaveText("These are the first words of a");
  await stage.letGo("says the rest later");
  await expect(person.messages).toContainText("goes on when it may.");

  // While a question waits.
  await person.says("print-then-wait");
  await person.isAsked();
  await same();

  // While the code runs and has printed something.
  await person.approves();
  await expect(person.output).toContainText("line 3");
  await same();
  await expect(person.output).toContainText("line 3");

  // When all is done.
  await stage.go(conversation);
  await expect(person.messages).toContainText("The last line was woke up.");
  await expect(person.messages.getByText(/tokens/)).toHaveCount(2);
  await same();
});

test("a draft is kept, each conversation its own", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.message.fill("half a thought");
  await page.reload();
  await expect(person.message).toHaveValue("half a thought");
  await person.begins("hello");
  await expect(person.message).toHaveValue("");
  await person.message.fill("another");
  await page.getByRole("link", { name: "New conversation" }).click();
  await expect(person.message).toHaveValue("");
  await page.goBack();
  await expect(person.message).toHaveValue("another");
});

test("any point of the past is shown as it was, also by its address", async ({ person }) => {
  const { page } = person;
  await person.comes();
  await person.begins("Please count-slowly");
  await person.approves();
  await expect(person.messages).toContainText("It printed line 5.");
  await page.getByRole("button", { name: "History" }).click();
  const slider = page.getByRole("slider", { name: "Point in history" });
  await slider.fill("1");
  await expect(person.messages).toHaveCount(0);
  // Forward, fact by fact, to where the turn waits for an answer.
  const place = page.getByRole("region", { name: "History" });
  for (let nth = 1; !(await place.innerText()).includes("turn.paused"); nth += 1) {
    await slider.press("ArrowRight");
    await expect(place).toContainText(`${nth + 1} of `);
  }
  await expect(person.question).toBeVisible();
  await expect(person.question.getByRole("button", { name: /Approve/ })).toHaveCount(0);
  await expect(person.messages).not.toContainText("It printed");
  await page.reload();
  await expect(person.question).toBeVisible();
  await page.getByRole("button", { name: "Back to now" }).click();
  await expect(person.messages).toContainText("It printed line 5.");
});
