/** A person at the page. */
import { expect, type Locator, type Page } from "@playwright/test";
import type { Stage } from "./stage.ts";

export class Person {
  constructor(
    readonly page: Page,
    readonly stage: Stage,
  ) {}

  /** Signed in by a link that hands the key over once. */
  async comes(path = "/", key = this.stage.addresses.key) {
    await this.page.goto(`${this.stage.addresses.url}${path}#key=${key}`);
    await expect(this.page.getByRole("main")).toBeVisible();
    // Whose key it is and what there is in the workspace is known then.
    await expect(this.page.locator(".side .connection")).toHaveText("Live");
  }

  get message(): Locator {
    return this.page.getByRole("textbox", { name: "Message" });
  }

  async says(text: string) {
    await this.message.fill(text);
    await this.message.press("Enter");
  }

  /** Says it in a conversation of its own and gives its id. */
  async begins(text: string): Promise<string> {
    // Not in the conversation that is just being left.
    await expect(this.page.getByRole("heading", { name: "What would you like done?" })).toBeVisible();
    await this.says(text);
    await this.page.waitForURL(/\/c\/[0-9a-f-]{36}/);
    return this.conversation();
  }

  conversation(): string {
    return /\/c\/([0-9a-f-]{36})/.exec(this.page.url())?.[1] ?? "";
  }

  get messages(): Locator {
    return this.page.getByRole("region", { name: "Messages" });
  }

  get question(): Locator {
    return this.page.getByRole("group", { name: /May the agent do this/ });
  }

  /** The plan that an agent has put to a person, whatever has become of it. */
  get plan(): Locator {
    return this.page.getByRole("group", { name: /^(May the agent follow this plan\?|Plan:) / });
  }

  /** Waits until the agent asks and this person may answer: before that, keys do nothing. */
  async isAsked() {
    await expect(this.question.getByRole("button", { name: /Approve/ })).toBeEnabled();
  }

  /** Approves what is asked, by keyboard. */
  async approves() {
    await this.isAsked();
    await this.question.press("a");
  }

  /** What the tool that runs has printed so far. */
  get output(): Locator {
    return this.page.getByRole("log", { name: "Live output" });
  }

  /** The pill of the conversation. */
  get connection(): Locator {
    return this.page.locator(".page-head .connection");
  }

  /** Waits until the page asks for nothing any more; gives what it asks for from then on. */
  async comesToRest(): Promise<string[]> {
    const asked: string[] = [];
    let last = Date.now();
    this.page.on("request", (request) => {
      asked.push(request.url());
      last = Date.now();
    });
    // Longer than it waits for anything that it does once.
    await expect.poll(() => Date.now() - last).toBeGreaterThan(6_500);
    asked.length = 0;
    return asked;
  }

  /** What is to be read and operated, without what a clock changes and where the focus is. */
  async sees(): Promise<string> {
    const text = await this.messages.ariaSnapshot();
    return text.replace(/timer: .*|"?\d+ (min|s|h).* left"?/g, "timer").replaceAll(" [active]", "");
  }
}
