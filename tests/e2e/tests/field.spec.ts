/** Field cases that a browser meets. */
import { bufferingProxy } from "../src/buffering-proxy.ts";
import { Person } from "../src/person.ts";
import { expect, test } from "../src/test.ts";

const STREAM = /\/v1\/conversations\/[^/]+\/stream/;

test("F14: cut before anything came, or sent to places that are in no history, the page shows every fact once", async ({
  person,
}) => {
  const { page } = person;
  await person.comes();
  await person.begins("hello");
  await expect(person.messages.getByText(/tokens/)).toBeVisible();
  await person.says("hello again");
  await expect(person.messages.getByText(/tokens/)).toHaveCount(2);
  const whole = await person.sees();
  for (const place of ["0", "-1", "999999999", "abc"]) {
    let sent = 0;
    await page.route(STREAM, (route) => {
      sent += 1;
      // The first line is cut before any event, the second begins at this place.
      if (sent === 1) return route.abort();
      if (sent > 2) return route.continue();
      return route.continue({ headers: { ...route.request().headers(), "last-event-id": place } });
    });
    await page.reload();
    await expect(person.connection).toHaveText("Live");
    await expect.poll(() => person.sees(), place).toBe(whole);
    expect(sent).toBeGreaterThan(1);
    await page.unroute(STREAM);
  }
});

test("F14: a conversation of another workspace is not there", async ({ person, stage }) => {
  await person.comes();
  const id = await person.begins("a secret of this workspace");
  await expect(person.messages.getByText(/tokens/)).toBeVisible();
  await stage.workspace();
  await person.page.goto(`${stage.addresses.url}/c/${id}#key=${stage.addresses.key}`);
  await person.page.reload();
  await expect(person.page.getByText("There is no such conversation")).toBeVisible();
  await expect(person.page.locator("body")).not.toContainText("secret");
});

test("F15: whoever leaves cancels nothing; only a cancel does, and it reaches the tool", async ({ person, stage }) => {
  const { url } = stage.addresses;
  let page = person.page;
  const leave = async (id: string) => {
    const next = await page.context().newPage();
    await page.close();
    page = next;
    return async () => {
      await page.goto(`${url}/c/${id}`);
      return new Person(page, stage);
    };
  };
  await person.comes();
  // After the first words.
  const talk = await person.begins("fall-silent");
  await expect(person.messages).toContainText("These are the");
  let back = await leave(talk);
  let again = await back();
  await expect(again.messages).toContainText("before its end.");
  // During a pause.
  await again.says("Please print-then-wait");
  await again.isAsked();
  back = await leave(talk);
  again = await back();
  await again.approves();
  // During a tool, which ends while nobody looks.
  await expect(again.output).toContainText("line 3");
  back = await leave(talk);
  await stage.go(talk);
  expect((await stage.rows(talk)).calls).toMatchObject([{ status: "completed" }]);
  again = await back();
  await expect(again.messages).toContainText("The last line was woke up.");
  // A cancel reaches the tool.
  await again.says("Please print-then-wait");
  await again.approves();
  await expect(again.output).toContainText("line 3");
  await page.getByRole("button", { name: "Stop" }).click();
  await expect(page.getByText("Stopped")).toBeVisible();
  expect((await stage.rows(talk)).calls).toMatchObject([{ status: "completed" }, { status: "cancelled" }]);
});

test("F16: through a proxy that gathers and compresses, what a tool prints comes as it is printed", async ({
  person,
  stage,
}) => {
  const proxy = await bufferingProxy(stage.addresses.direct, 45_000);
  await person.page.goto(`${proxy.url}/#key=${stage.addresses.key}`);
  const id = await person.begins("Please print-then-wait");
  await person.approves();
  // Nothing fills the proxy's buffer, and the tool waits.
  await expect(person.output).toContainText("line 3");
  await stage.go(id);
  await expect(person.messages).toContainText("The last line was woke up.");
  await person.page.goto("about:blank");
  await proxy.end();
});
