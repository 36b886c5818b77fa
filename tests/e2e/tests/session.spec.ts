import { expect, test } from "../src/test.ts";

test("a key signs in, stays out of the address, and is gone after signing out", async ({ person, stage }) => {
  const { page } = person;
  await page.goto(`${stage.addresses.url}/settings/tools`);
  const field = page.getByLabel("API key");
  await field.fill("oxk_nothing_at_all");
  await field.press("Enter");
  await expect(page.getByText("This key opens nothing")).toBeVisible();
  await field.fill(stage.addresses.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  // Where the person wanted to go.
  await expect(page.getByRole("region", { name: "Tools" })).toBeVisible();
  await page.reload();
  await expect(page.getByRole("region", { name: "Tools" })).toBeVisible();
  expect(await page.evaluate(() => Object.keys(localStorage))).not.toContain("oxagen.key");
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByLabel("API key")).toBeVisible();
  expect(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))).not.toContain("oxk_");
});

test("a link hands the key over once", async ({ person }) => {
  const { page } = person;
  await person.comes("/approvals");
  await expect(page.getByText("Nothing waits for you")).toBeVisible();
  expect(page.url()).not.toContain("key");
  await page.goBack().catch(() => undefined);
  expect(await page.evaluate(() => location.href)).not.toContain("oxk_");
});

test("the page is served well: whole, small, cached and shut to others", async ({ stage, request }) => {
  const page = await request.get(stage.addresses.url, { headers: { accept: "text/html" } });
  const headers = page.headers();
  expect(headers["content-security-policy"]).toContain("script-src 'self'");
  expect(headers["cache-control"]).toBe("no-cache");
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1];
  const asset = await request.get(`${stage.addresses.url}${script}`, { headers: { "accept-encoding": "gzip" } });
  expect(asset.headers()["cache-control"]).toContain("immutable");
  expect(asset.headers()["content-encoding"]).toBe("gzip");
  const again = await request.get(stage.addresses.url, {
    headers: { accept: "text/html", "if-none-match": headers.etag ?? "" },
  });
  expect(again.status()).toBe(304);
  const nothing = await request.get(`${stage.addresses.url}/v1/nothing`, { headers: { accept: "text/html" } });
  expect([nothing.status(), (await nothing.json()).code]).toEqual([404, "unknown_route"]);
});
