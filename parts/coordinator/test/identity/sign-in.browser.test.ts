import { launchBrowser } from "@resontech/house/launch-browser";
import type { Page } from "playwright-core";
import t from "tap";
import { SignInHouse, timeCode } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const browser = await launchBrowser(house.origin);
t.teardown(() => browser.close());

async function freshPage(): Promise<Page> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return page;
}

async function fillPassword(page: Page, username: string, password: string): Promise<void> {
  await page.fill("#username", username);
  await page.fill("#password", password);
  await page.click("#kc-login");
}

t.test("a researcher signs in through Keycloak's page and sees who one is", async (t) => {
  const anna = await house.addAccount("anna");
  const page = await freshPage();
  await page.goto(`${house.origin}/dashboard/jobs/nothing-there`);
  await page.waitForURL(/\/realms\/resontech\/protocol\/openid-connect\/auth/);
  await fillPassword(page, anna.username, anna.password);
  await page.waitForURL(`${house.origin}/dashboard/jobs/nothing-there`);
  t.match(await page.getByRole("alert").textContent(), /there is no such task/);
  await page.getByRole("link", { name: "Overview" }).click();
  await page.waitForSelector("#who");
  t.equal(await page.textContent("#username"), "anna");
  const cookies = await page.context().cookies(house.origin);
  t.match(
    cookies.find(({ name }) => name === "__Host-rt"),
    { httpOnly: true, secure: true, sameSite: "Lax", path: "/" },
  );
  await page.goto(`${house.origin}/dashboard/profile`);
  await page.click("#sign-out");
  await page.waitForURL(/openid-connect\/auth/);
  t.equal(await page.isVisible("#username"), true, "Keycloak's session has ended as well");
});

t.test(
  "an administrator changes the password, sets up a code and is in with a second factor",
  async (t) => {
    const root = await house.addAccount("root", ["platform-admin"], true);
    const page = await freshPage();
    await page.goto(`${house.origin}/`);
    await fillPassword(page, root.username, root.password);
    await page.fill("#password-new", "a-much-better-password");
    await page.fill("#password-confirm", "a-much-better-password");
    await page.click("input[type=submit], button[type=submit]");
    await page.click("#mode-manual");
    const secret = (await page.textContent("#kc-totp-secret-key")) ?? "";
    await page.fill("#totp", timeCode(secret));
    await page.click("#saveTOTPBtn");
    await page.waitForSelector("#who:not([hidden])");
    await page.goto(`${house.origin}/dashboard/profile`);
    t.equal(await page.textContent("#roles"), "platform-admin");
    t.match(await page.textContent("#acr"), /with a second factor/);
  },
);
