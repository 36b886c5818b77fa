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

  /** The pill of the conversation. */
  get connection(): Locator {
    return this.page.locator(".page-head .connection");
  }

  /** What is to be read and operated, without what a clock changes. */
  async sees(): Promise<string> {
    const text = await this.messages.ariaSnapshot();
    return text.replace(/timer: .*|"?\d+ (min|s|h).* left"?/g, "timer");
  }
}
