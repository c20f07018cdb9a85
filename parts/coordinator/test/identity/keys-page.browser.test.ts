/** The page of platform keys in a real browser: minted behind a second factor, shown once, revoked; by keyboard alone. */
import { setTimeout as sleep } from "node:timers/promises";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import { launchBrowser } from "@resontech/house/launch-browser";
import t from "tap";
import { SignInHouse, timeCode } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const browser = await launchBrowser(house.origin);
t.teardown(() => browser.close());

t.test("a person mints a key, sees it once and revokes it", async (t) => {
  const anna = await house.addAccount("anna");
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${house.origin}/auth/credential/code`);
  await page.fill("#username", anna.username);
  await page.fill("#password", anna.password);
  await page.click("#kc-login");
  await page.click("#mode-manual");
  const secret = (await page.textContent("#kc-totp-secret-key")) ?? "";
  const first = timeCode(secret);
  await page.fill("#totp", first);
  await page.click("#saveTOTPBtn");
  await page.waitForSelector("#who");

  await page.getByRole("link", { name: "Keys", exact: true }).click();
  await page.waitForSelector("#mint");
  await page.getByText("You have no platform key that is good").waitFor();
  await page.focus("#name");
  await page.keyboard.type("my <laptop>");
  await page.uncheck("[value=storage]");
  await page.focus("#mint-key");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#otp");
  // A code works once, and only in its own half minute.
  while (timeCode(secret) === first) await sleep(250);
  await page.fill("#otp", timeCode(secret));
  await page.click("#kc-login");
  await page.waitForURL(`${house.origin}/dashboard/keys`);
  await page.waitForSelector("#mint");
  t.equal(await page.inputValue("#name"), "my <laptop>", "what was filled in is there again");
  t.equal(await page.isChecked("[value=storage]"), false);
  await page.focus("#mint-key");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#minted-key");
  const key = (await page.textContent("#minted-key")) ?? "";
  t.match(key, /^rsk_dev_/);
  await page.getByRole("cell", { name: "my <laptop>", exact: true }).waitFor();
  const answer = await house.api.app.inject({
    ...{
      url: "/api/me",
      headers: { authorization: `Bearer ${key}`, [PEER_HEADER]: "10.0.0.9" },
    },
  });
  t.equal(answer.statusCode, 200);

  await page.reload();
  await page.getByRole("cell", { name: "my <laptop>", exact: true }).waitFor();
  t.notMatch(await page.content(), key, "it is shown once");
  await page.getByRole("button", { name: "Revoke my <laptop>" }).press("Enter");
  await page.getByRole("button", { name: "Revoke the key" }).press("Enter");
  await page.getByText("You have no platform key that is good").waitFor();
  t.notMatch(await page.evaluate("JSON.stringify(sessionStorage)"), "laptop");
});
