import { expect, test } from "../src/test.ts";

test("a reload at any moment shows the same as never having left", async ({ person }) => {
  const { page } = person;
  const same = async () => {
    const before = await person.sees();
    await page.reload();
    await expect(person.connection).toHaveText("Live");
    await expect.poll(() => person.sees()).toBe(before);
  };
  await person.comes();

  // While the model is in the middle of a sentence.
  await person.begins("fall-silent");
  await expect(person.messages).toContainText("These are the first words of an");
  await same();
  await expect(person.messages).toContainText("before its end.");

  // While a question waits.
  await person.says("print-then-wait");
  await expect(person.question).toBeVisible();
  await same();

  // While the code runs and has printed something.
  await person.question.press("a");
  await expect(page.getByRole("log", { name: "Live output" })).toContainText("line 3");
  await same();

  // When all is done.
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
  await person.question.press("a");
  await expect(person.messages).toContainText("It printed line 5.");
  await page.getByRole("button", { name: "History" }).click();
  const slider = page.getByRole("slider", { name: "Point in history" });
  await slider.fill("1");
  await expect(person.messages).toHaveCount(0);
  // Forward, fact by fact, to the question.
  await expect(async () => {
    await slider.press("ArrowRight");
    await expect(person.question).toBeVisible({ timeout: 300 });
  }).toPass();
  await expect(person.question.getByRole("button", { name: /Approve/ })).toHaveCount(0);
  await expect(person.messages).not.toContainText("It printed");
  await page.reload();
  await expect(person.question).toBeVisible();
  await page.getByRole("button", { name: "Back to now" }).click();
  await expect(person.messages).toContainText("It printed line 5.");
});
