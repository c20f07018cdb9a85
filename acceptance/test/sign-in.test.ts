/** People sign in to the installed appliance with a browser: the first administrator with code and passkey, a user by a handed-over password. */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import t from "tap";
import { LocalAppliance } from "@resontech/house/local-appliance";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { timeCode } from "@resontech/house/time-code";

const root = process.env["RT_TEST_APPLIANCE"] ?? "";
if (!existsSync(join(root, "current")))
  throw new Error("npm test starts the appliance; run it through `npm test`");
const appliance = LocalAppliance.at(root);
const { RESON_BASE_URL: base = "" } = appliance.quickstart();
const credentials = readFileSync(join(root, "data", "credentials.txt"), "utf8");
const username = /^username = (.+)$/m.exec(credentials)?.[1] ?? "";
const firstPassword = /^first_password = (.+)$/m.exec(credentials)?.[1] ?? "";
/** Pictures of the pages, for whoever wants to look. */
const pictures = process.env["RT_IMAGES"];

t.setTimeout(600_000);
const browser = await launchApplianceBrowser(appliance);
t.teardown(() => browser.close());

async function freshPage(): Promise<Page> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1000, height: 640 },
  });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  return page;
}
async function picture(page: Page, name: string): Promise<void> {
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) });
}

async function signIn(page: Page, name: string, password: string): Promise<void> {
  await page.goto(`${base}/`);
  await page.fill("#username", name);
  await page.fill("#password", password);
  await page.click("#kc-login");
}
async function choosePassword(page: Page, password: string): Promise<void> {
  await page.fill("#password-new", password);
  await page.fill("#password-confirm", password);
  await page.click("input[type=submit], button[type=submit]");
}
async function roles(page: Page): Promise<string | null> {
  await page.waitForSelector("#who:not([hidden])").catch(async (error: unknown) => {
    const seen = await page.innerText("body").catch(() => "nothing");
    throw new Error(`at ${page.url()} the page says: ${seen.slice(0, 600)}`, { cause: error });
  });
  await page.goto(`${base}/dashboard/profile`);
  return await page.textContent("#roles");
}
/** Of this run: nobody may have one of their last five again, and another test may have been this person. */
const CLICKS = 10;
const CLICK_MS = 5_000;
const PASSWORD = `a-better-password-${randomUUID()}`;

/** A click before the page's script is there does nothing: again, until the button is gone. */
async function clickThrough(page: Page, selector: string): Promise<void> {
  const button = page.locator(selector);
  await button.waitFor();
  for (let tries = 0; tries < CLICKS && (await button.isVisible()); tries++) {
    await button.click({ timeout: CLICK_MS }).catch(() => undefined);
    await button.waitFor({ state: "hidden", timeout: CLICK_MS }).catch(() => undefined);
  }
}

t.test(
  "the first administrator changes the password, sets up a code, then a passkey",
  async (t) => {
    const page = await freshPage();
    await page.goto(`${base}/`);
    await picture(page, "sign-in");
    await signIn(page, username, firstPassword);
    const isAsked = page.locator("#password-new");
    await isAsked.or(page.getByText("Name or password is wrong")).first().waitFor();
    // Another test may have been this person before: then the operator hands a password over.
    if (!(await isAsked.isVisible())) {
      await appliance.command(["user", "reset-second-factor", username]);
      const { password } = JSON.parse(
        await appliance.command(["user", "password", username, "--json"]),
      ) as { password: string };
      await signIn(page, username, password);
    }
    await choosePassword(page, PASSWORD);
    await page.waitForSelector("#mode-manual");
    await picture(page, "second-factor");
    await page.click("#mode-manual");
    const secret = (await page.textContent("#kc-totp-secret-key")) ?? "";
    await page.fill("#totp", timeCode(secret));
    await page.click("#saveTOTPBtn");
    t.equal(await roles(page), "platform-admin");
    t.match(await page.textContent("#acr"), /with a second factor/);
    await picture(page, "signed-in");

    const devtools = await page.context().newCDPSession(page);
    await devtools.send("WebAuthn.enable");
    await devtools.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true },
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
      },
    });
    page.on("dialog", (dialog) => void dialog.accept("of the test"));
    await page.click("text=Add a passkey");
    // The code of this half minute is used up.
    await page.fill("#otp", timeCode(secret, Date.now() + 30_000));
    await page.click("#kc-login");
    await clickThrough(page, "#registerWebAuthn");
    t.equal(await roles(page), "platform-admin");

    await page.click("#sign-out");
    await page.waitForSelector("#username[name=username]");
    await signIn(page, username, PASSWORD);
    await clickThrough(page, "#authenticateWebAuthnButton");
    t.equal(await roles(page), "platform-admin");
    t.match(await page.textContent("#acr"), /with a second factor/, "by the passkey");

    await page.goto(`${base}/auth/step-up?return=/dashboard/jobs/x`);
    await clickThrough(page, "#authenticateWebAuthnButton");
    await page.waitForURL(`${base}/dashboard/jobs/x`);
    t.pass("a step-up asks for the passkey again");
  },
);

t.test(
  "a user signs in with a password that was handed over, and is out everywhere at once",
  async (t) => {
    await appliance.command(["add-user", "guest"]);
    const { password } = JSON.parse(
      await appliance.command(["user", "password", "guest", "--json"]),
    ) as { password: string };
    const [first, second] = [await freshPage(), await freshPage()];
    await signIn(first, "guest", password);
    await choosePassword(first, PASSWORD);
    t.match(await roles(first), /none/);
    await signIn(second, "guest", PASSWORD);
    await roles(second);
    await first.click("#sign-out-everywhere");
    await first.waitForSelector("#username[name=username]");
    const status = await second.evaluate(async () => (await fetch("/api/session")).status);
    t.equal(status, 401);

    await signIn(second, "guest", PASSWORD);
    await roles(second);
    await appliance.command(["user", "disable", "guest"]);
    const after = await second.evaluate(async () => (await fetch("/api/session")).status);
    t.equal(after, 401, "a disabled user is out");
    await second.goto(`${base}/`);
    await second.waitForURL(/openid-connect\/auth|login-actions/);
    await picture(second, "disabled");
  },
);

t.test("the realm is as the release has it, and the log knows who came", async (t) => {
  t.same(JSON.parse(await appliance.command(["identity", "diff", "--json"])), { drift: [] });
});
