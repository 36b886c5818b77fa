/** What the page costs, measured: `npm run measure` prints it. Figures are reported, not judged. */
import type { CDPSession, Page } from "@playwright/test";
import { expect, test } from "../src/test.ts";

test.use({ trace: "off" });

const report = (name: string, values: Record<string, unknown>) => console.log(`${name}: ${JSON.stringify(values)}`);

async function devtools(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  return session;
}

test("first paint, time to interactive and what is loaded, at a quarter of the speed", async ({ person, stage }) => {
  const { page } = person;
  const session = await devtools(page);
  await person.comes();
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  for (const path of ["/", "/approvals"]) {
    let bytes = 0;
    const sizes = new Map<string, string>();
    session.on("Network.responseReceived", ({ requestId, response }) => sizes.set(requestId, response.url));
    session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
      if (sizes.get(requestId)?.endsWith(".js")) bytes += encodedDataLength;
    });
    await session.send("Network.enable");
    await page.addInitScript(() => {
      const seen = { longest: 0, end: 0, ready: 0 };
      Object.assign(window, { seen });
      new PerformanceObserver((list) => {
        for (const task of list.getEntries()) {
          seen.longest = Math.max(seen.longest, task.duration);
          seen.end = task.startTime + task.duration;
        }
      }).observe({ type: "longtask", buffered: true });
      new MutationObserver(() => {
        if (!seen.ready && document.querySelector("textarea, .page-body")) seen.ready = performance.now();
      }).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${stage.addresses.url}${path}`);
    await page.waitForTimeout(3_000);
    const figures = await page.evaluate(() => {
      const paint = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
      const { ready, end, longest } = (window as unknown as { seen: { ready: number; end: number; longest: number } }).seen;
      const round = Math.round;
      return { firstPaintMs: round(paint), interactiveMs: round(Math.max(ready, end)), longestTaskMs: round(longest) };
    });
    report(`load ${path}`, { ...figures, scriptKiB: Math.round(bytes / 1024) });
  }
});

test("from a piece's arrival to its paint", async ({ person }) => {
  const { page } = person;
  await page.addInitScript(() => {
    const waits: number[] = [];
    const arrived: number[] = [];
    Object.assign(window, { waits });
    const ask = window.fetch;
    window.fetch = async (...parameters) => {
      const response = await ask(...parameters);
      if (!String(parameters[0]).includes("/conversations/") || !response.body) return response;
      const noting = new TransformStream<Uint8Array, Uint8Array>({
        transform(bytes, controller) {
          if (new TextDecoder().decode(bytes).includes("text-delta")) arrived.push(performance.now());
          controller.enqueue(bytes);
        },
      });
      return new Response(response.body.pipeThrough(noting), { status: response.status, headers: response.headers });
    };
    const painted = new MessageChannel();
    let due: number[] = [];
    painted.port1.onmessage = () => {
      for (const at of due.splice(0)) waits.push(performance.now() - at);
    };
    new MutationObserver(() => {
      if (arrived.length === 0) return;
      due = due.concat(arrived.splice(0));
      requestAnimationFrame(() => painted.port2.postMessage(0));
    }).observe(document, { childList: true, subtree: true, characterData: true });
  });
  await person.comes();
  await person.begins("speak-fast");
  await expect(person.messages.getByText(/tokens/)).toBeVisible({ timeout: 60_000 });
  const waits = await page.evaluate(() => (window as unknown as { waits: number[] }).waits.sort((a, b) => a - b));
  const at = (part: number) => Math.round((waits[Math.floor(waits.length * part)] ?? 0) * 10) / 10;
  report("piece to paint", { pieces: waits.length, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) });
});

/** Turns of a long conversation, one after another; making them takes longest. */
const TURNS = Number(process.env.TURNS ?? 500);

test(`a conversation of ${TURNS} turns with 2,000 pieces each`, async ({ person, stage, request }) => {
  test.setTimeout(600_000);
  const { page } = person;
  const headers = { authorization: `Bearer ${stage.addresses.key}` };
  const post = async (body: object) => {
    const answer = await request.post(`${stage.addresses.direct}/v1/turns`, { headers, data: body });
    expect(answer.status()).toBe(202);
    return (await answer.json()) as { conversationId: string; turnId: string };
  };
  const first = await post({ text: "long-answer 0" });
  let last = first;
  for (let turn = 1; turn < TURNS; turn += 1) {
    last = await post({ conversationId: first.conversationId, text: `long-answer ${turn}`, onBusy: "enqueue" });
  }
  await expect
    .poll(
      async () =>
        (await (await request.get(`${stage.addresses.direct}/v1/turns/${last.turnId}`, { headers })).json()).status,
      { timeout: 400_000, intervals: [2_000] },
    )
    .toBe("completed");
  const session = await devtools(page);
  await person.comes();
  const begun = Date.now();
  await page.goto(`${stage.addresses.url}/c/${first.conversationId}`);
  await expect(person.connection).toHaveText("Live");
  await expect(page.getByRole("article", { name: `Turn: long-answer ${TURNS - 1}` })).toBeVisible();
  const loadMs = Date.now() - begun;
  const frames = await person.messages.evaluate(async (box) => {
    const waits: number[] = [];
    let before = performance.now();
    let isDone = false;
    const tick = (now: number) => {
      waits.push(now - before);
      before = now;
      box.scrollTop -= 240;
      if (box.scrollTop > 0 && waits.length < 3_000) requestAnimationFrame(tick);
      else isDone = true;
    };
    requestAnimationFrame(tick);
    while (!isDone) await new Promise((go) => setTimeout(go, 100));
    waits.shift();
    waits.sort((a, b) => a - b);
    const at = (part: number) => Math.round(waits[Math.floor((waits.length - 1) * part)] ?? 0);
    return { frames: waits.length, p95Ms: at(0.95), p99Ms: at(0.99), longestMs: at(1), over50: waits.filter((wait) => wait > 50).length };
  });
  // It takes another message as any conversation does, and the list shows it.
  const asked = Date.now();
  await person.says("and one more");
  await expect(person.messages).toContainText("You said: “and one more”.");
  const anotherMs = Date.now() - asked;
  await expect(page.getByRole("link", { name: "long-answer 0" })).toBeVisible();
  const { metrics } = await session.send("Performance.getMetrics");
  const metric = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
  report(`${TURNS} turns`, { loadMs, anotherMs, ...frames, nodes: metric("Nodes"), heapMiB: Math.round(metric("JSHeapUsedSize") / 2 ** 20) });
});

/** How long the page is streamed to, in minutes. */
const MINUTES = Number(process.env.MINUTES ?? 10);

test(`memory while answers stream for ${MINUTES} minutes`, async ({ person }) => {
  test.setTimeout((MINUTES + 5) * 60_000);
  const { page } = person;
  const session = await devtools(page);
  await person.comes();
  await person.begins("speak-fast");
  const heap = async () => {
    await session.send("HeapProfiler.collectGarbage");
    const { metrics } = await session.send("Performance.getMetrics");
    const value = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0;
    return { mib: Math.round((value("JSHeapUsedSize") / 2 ** 20) * 10) / 10, nodes: value("Nodes") };
  };
  const heaps: { mib: number; nodes: number }[] = [];
  const begun = Date.now();
  let round = 0;
  while (Date.now() - begun < MINUTES * 60_000) {
    const turn = page.getByRole("article").last();
    await expect(turn.getByText(/ tokens/)).toHaveCount(1, { timeout: 60_000 });
    // A figure for each minute that has gone by.
    if (Date.now() - begun >= heaps.length * 60_000) heaps.push(await heap());
    round += 1;
    await person.says(`speak-fast ${round}`);
    await expect(page.getByRole("article", { name: `speak-fast ${round}` })).toBeVisible();
  }
  await expect(page.getByRole("article").last().getByText(/ tokens/)).toHaveCount(1, { timeout: 60_000 });
  heaps.push(await heap());
  report("memory", { minutes: MINUTES, answers: round + 1, pieces: (round + 1) * 600, heapMiB: heaps.map(({ mib }) => mib), nodes: heaps.map(({ nodes }) => nodes) });
});
