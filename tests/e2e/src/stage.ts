/** The installation that the tests play on: `oxagen-stage`, told over its standard input. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface, type Interface } from "node:readline";

export interface Addresses {
  /** Through a door that can be shut. */
  url: string;
  /** Past that door. */
  direct: string;
  model: string;
  tenantId: string;
  key: string;
  viewerKey: string;
}

export interface Rows {
  calls: {
    id: string;
    capability: string;
    status: string;
    attempt: number;
    policy_rule: string;
    plan_step: string | null;
    settled_as: string | null;
    edited: boolean;
  }[];
  invocations: { call_id: string; status: string }[];
  edges: number;
  messages: { id: string; parent_message_id: string | null; role: string; turn_id: string }[];
}

const PROJECT = resolve(import.meta.dirname, "../../..");
const TARGET = resolve(PROJECT, process.env.CARGO_TARGET_DIR ?? "target");

export class Stage {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    public addresses: Addresses,
  ) {}

  static async start(): Promise<Stage> {
    const program = process.env.OXAGEN_STAGE ?? resolve(TARGET, "debug/oxagen-stage");
    if (!existsSync(program)) throw new Error(`${program} is not there: make browser builds it`);
    const child = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    if (!child.stdout) throw new Error("the stage has no output");
    const reader: Interface = createInterface({ input: child.stdout });
    const lines = reader[Symbol.asyncIterator]();
    const addresses = await next<Addresses>(lines);
    return new Stage(child, lines, addresses);
  }

  private async tell<T>(command: string): Promise<T> {
    this.child.stdin?.write(`${command}\n`);
    return next<T>(this.lines);
  }

  /** Breaks every connection of the browser. */
  shut = () => this.tell("shut");
  /** Nothing comes through any more, and nobody is told. */
  stall = () => this.tell("stall");
  open = () => this.tell("open");
  /** kill -9 of the gateway. */
  kill = () => this.tell("kill");
  /** The gateway again, at the same address. */
  start = () => this.tell("start");
  /** kill -9 of the runner, and another one. */
  anotherRunner = () => this.tell("runner");
  /** Tells the code that runs in a conversation to go on, where it waits for that; until its end. */
  go = (conversation: string) => this.tell(`go ${conversation}`);
  /** Lets the answers of a scenario go on that are held (`holdAfter`). */
  async letGo(scenario: string) {
    const url = new URL(`/__let_go/${encodeURIComponent(scenario)}`, this.addresses.model);
    const answer = await fetch(url, { method: "POST" });
    if (!answer.ok) throw new Error(`${scenario} is held on: ${await answer.text()}`);
  }
  /** What the three stores hold of a conversation's calls, once all of them have ended. */
  rows = (conversation: string) => this.tell<Rows>(`rows ${conversation}`);

  /** A workspace of its own, with keys of its own. */
  async workspace() {
    this.addresses = await this.tell<Addresses>("workspace");
  }

  async end() {
    // One that has ended by itself says nothing any more.
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = new Promise((done) => this.child.once("exit", done));
    this.child.stdin?.end();
    await ended;
  }
}

async function next<T>(lines: AsyncIterator<string>): Promise<T> {
  const line = await lines.next();
  if (line.done) throw new Error("the stage has ended; what it said is above");
  return JSON.parse(line.value) as T;
}
