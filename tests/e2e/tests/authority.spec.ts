import { expect, test } from "../src/test.ts";

test("an answer is remembered for the very same arguments, listed, and taken back", async ({ person }) => {
  const { page, question } = person;
  await person.comes();
  await person.begins("once-more, please");
  await person.isAsked();
  await question.press("r");
  await expect(question.getByRole("radio", { name: /exactly these arguments/ })).toBeChecked();
  await question.getByRole("button", { name: /^Approve/ }).click();
  await expect(person.messages).toContainText("It is done.");

  // The next time nobody is asked.
  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("once-more, please");
  await expect(person.messages).toContainText("It is done.");
  await expect(page.getByText("Approved by you")).toHaveCount(0);

  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Standing approvals" }).click();
  const item = page.getByRole("listitem").filter({ hasText: "exact arguments" });
  await expect(item).toContainText("agent.code.execute");
  await item.getByRole("button", { name: "Take back" }).click();
  await item.getByRole("button", { name: "Ask again from now on" }).click();
  await expect(page.getByText("No answer stands")).toBeVisible();
  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("once-more, please");
  await person.isAsked();
});

test("an answer is remembered for calls like this one", async ({ person }) => {
  const { page, question } = person;
  await person.comes();
  await person.begins("once-more, please");
  await person.isAsked();
  await question.getByRole("button", { name: /Remember/ }).click();
  await question.getByRole("radio", { name: /calls like this one/ }).check();
  await question.getByRole("checkbox", { name: /where code is/ }).uncheck();
  await question.getByRole("button", { name: /^Approve/ }).click();
  await expect(person.messages).toContainText("It is done.");
  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("two-things");
  await expect(person.messages).toContainText("Both are answered.");
  await page.goto(`${person.stage.addresses.url}/settings/standing`);
  await expect(page.getByRole("listitem").filter({ hasText: "pattern" })).toContainText('where /language is "python"');
});

test("edited arguments are checked, and what does not fit is said beside its field", async ({ person }) => {
  const { question } = person;
  await person.comes();
  await person.begins("once-more, please");
  await person.isAsked();
  await question.press("e");
  await question.getByText("Other arguments").click();
  const field = question.getByRole("spinbutton", { name: "timeoutMs" });
  await field.fill("5");
  await question.getByRole("button", { name: "Approve as edited" }).click();
  await expect(field).toHaveAttribute("aria-invalid", "true");
  // As JSON it is the same.
  await question.getByRole("radio", { name: "JSON" }).check();
  const json = question.getByRole("textbox", { name: "Arguments as JSON" });
  await expect(json).toHaveValue(/"timeoutMs": 5/);
  await json.fill("{ no JSON");
  await expect(question.getByText("This is no JSON")).toBeVisible();
  await expect(question.getByRole("button", { name: /^Approve/ })).toBeDisabled();
  await json.fill(JSON.stringify({ language: "python", code: "print('another')" }));
  await question.getByRole("button", { name: "Approve as edited" }).click();
  await expect(person.messages).toContainText("another");
  await expect(person.messages).toContainText("with other arguments");
  await person.page.getByRole("button", { name: /Show the details/ }).click();
  await expect(person.messages).toContainText("As the agent asked for it");
  await expect(person.messages).toContainText("print('the same')");
});

test("two people are needed: the page says how many have approved", async ({ person, browser, stage, request }) => {
  const { url, key } = stage.addresses;
  const headers = { authorization: `Bearer ${key}` };
  const { policy } = await (await request.get(`${url}/v1/policy`, { headers })).json();
  await request.put(`${url}/v1/policy`, { headers, data: { policy: { ...policy, approval: { needed: 2 } } } });
  const made = await request.post(`${url}/v1/keys`, {
    headers,
    data: { name: "second", role: "member" },
  });
  const second = (await made.json()).secret as string;
  await person.comes();
  const id = await person.begins("once-more, please");
  await person.isAsked();
  await person.question.press("a");
  await expect(person.question).toContainText("1 of 2 people");
  await expect(person.question).toContainText("1 more must");
  const other = await (await browser.newContext()).newPage();
  await other.goto(`${url}/c/${id}#key=${second}`);
  const question = other.getByRole("group", { name: /May the agent do this/ });
  await expect(question).toContainText("1 of 2 people");
  await question.getByRole("button", { name: /^Approve/ }).click();
  await expect(person.messages).toContainText("It is done.");
  await other.close();
});

test("the policy is shown, explained and changed, and the kill switch stops everything", async ({ person }) => {
  const { page } = person;
  await person.comes("/settings/policy");
  const explain = page.getByRole("form", { name: "Explain" });
  await explain.getByRole("button", { name: "Explain" }).click();
  await expect(explain.getByRole("status")).toContainText("A person would be asked");
  await expect(explain.getByRole("status")).toContainText("capability.asks_approval");

  const inForce = page.getByRole("region", { name: "In force" });
  await inForce.getByRole("button", { name: "Edit" }).click();
  const json = inForce.getByRole("textbox", { name: "The policy as JSON" });
  const document = JSON.parse(await json.inputValue());
  const rule = { name: "no-python", effect: "deny", capability: "agent.code.*", reason: "No snakes.", when: [{ pointer: "/language", test: "equals", value: "python" }] };
  await json.fill(JSON.stringify({ ...document, approvalExpirySeconds: 1, rules: [rule] }));
  await inForce.getByRole("button", { name: "Bring into force" }).click();
  await expect(inForce.getByText("approvalExpirySeconds").last()).toBeVisible();
  await json.fill(JSON.stringify({ ...document, rules: [rule] }));
  await inForce.getByRole("button", { name: "Bring into force" }).click();
  await expect(inForce).toContainText("No snakes.");
  await explain.getByRole("button", { name: "Explain" }).click();
  await expect(explain.getByRole("status")).toContainText("It would be denied");
  await expect(explain.getByRole("status")).toContainText("rules.no-python");

  const killSwitch = page.getByRole("region", { name: "Kill switch" });
  await killSwitch.getByRole("button", { name: "Stop everything" }).click();
  await killSwitch.getByRole("button", { name: "Stop everything now" }).click();
  await expect(killSwitch).toContainText("Everything is stopped");
  await page.getByRole("link", { name: "New conversation" }).click();
  await person.begins("Which tools are there?");
  await expect(person.messages).toContainText("Not run:");
  await page.goto(`${person.stage.addresses.url}/settings/policy`);
  await killSwitch.getByRole("button", { name: "Let calls start again" }).click();
  await expect(killSwitch.getByRole("button", { name: "Stop everything" })).toBeVisible();
});

test("calls in doubt are settled as done, as not done, and by running them again", async ({ person, stage }) => {
  const { page, messages } = person;
  await person.comes();
  const ids: string[] = [];
  for (const nth of [1, 2, 3]) {
    await page.getByRole("link", { name: "New conversation" }).click();
    ids.push(await person.begins(`reach-out ${nth}`));
    await person.approves();
    await expect(person.output).toContainText("line 3");
  }
  await stage.anotherRunner();
  await expect(messages).toContainText("This may or may not have happened");
  await page.getByRole("radio", { name: /It did not happen/ }).check();
  await page.getByRole("button", { name: "Settle as not done" }).click();
  await expect(messages).toContainText("Settled as not done by you");

  await page.goto(`${stage.addresses.url}/c/${ids[0]}`);
  await page.getByRole("radio", { name: /It happened/ }).check();
  await page.getByRole("textbox", { name: /Its result/ }).fill('{"stdout": "seen by a person"}');
  await page.getByRole("button", { name: "Settle as done" }).click();
  await expect(messages).toContainText("Settled as done by you");
  await expect(messages).toContainText("seen by a person");

  // The last one from the inbox.
  await page.getByRole("link", { name: /Approvals/ }).click();
  const doubt = page.getByRole("region", { name: /In doubt/ });
  await expect(doubt).toHaveCount(1);
  await doubt.getByRole("radio", { name: /Run it again/ }).check();
  await doubt.getByRole("button", { name: "Run it again" }).click();
  await expect(page.getByText("Nothing waits for you")).toBeVisible();
  await stage.go(ids[1] ?? "");
  await page.goto(`${stage.addresses.url}/c/${ids[1]}`);
  await expect(messages).toContainText("woke up");
  await expect(messages).toContainText("Run again, as said by you");
  for (const [nth, outcome] of ["done", "run_again", "not_done"].entries()) {
    const { calls } = await stage.rows(ids[nth] ?? "");
    expect(calls).toMatchObject([{ settled_as: outcome, status: outcome === "not_done" ? "failed" : "completed" }]);
  }
});
