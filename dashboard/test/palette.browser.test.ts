/** Everywhere by keyboard alone. */
import t from "tap";
import { DashboardHouse } from "./helper/dashboard-house.ts";

t.setTimeout(600_000);
/** For so long a second key may follow the first one. */
const SECOND_KEY_MS = 1_500;

t.test("a person goes to a job and to a page without a pointer", async (t) => {
  const house = await DashboardHouse.open();
  t.teardown(() => house[Symbol.asyncDispose]());
  const ada = await house.addUser("ada");
  const id = await house.submit(ada, "digits");
  const page = await (await house.windowOf(ada.userId)).newPage();
  page.setDefaultTimeout(120_000);
  await page.goto(`${house.running.url}/dashboard`);
  await page.waitForSelector("#who");

  const answer = Promise.withResolvers<void>();
  await page.route(/text=digi/, async (route) => {
    await answer.promise;
    await route.continue();
  });
  await page.keyboard.press("Control+k");
  await page.getByPlaceholder("Page or job").waitFor();
  await page.getByRole("menuitem", { name: /digits/ }).waitFor();
  // A line is chosen from the first letter on; `g i` would lead to Inference. And what was found before stays while the appliance is asked anew.
  const asked = page.waitForRequest(/text=digi/);
  await page.keyboard.type("digi", { delay: 100 });
  await asked;
  t.equal(new URL(page.url()).pathname, "/dashboard", "what is typed in a field leads nowhere");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${house.running.url}/dashboard/jobs/${id}`);
  answer.resolve();

  // A busy machine may miss that moment.
  const keys = `${house.running.url}/dashboard/keys`;
  while (page.url() !== keys) {
    await page.keyboard.press("g");
    await page.keyboard.press("k");
    await page.waitForURL(keys, { timeout: SECOND_KEY_MS }).catch(() => undefined);
  }

  await page.keyboard.press("?");
  await page.getByLabel("Single keys lead somewhere").uncheck();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("j");
  await page.waitForTimeout(300);
  t.equal(new URL(page.url()).pathname, "/dashboard/keys", "single keys are switched off");
});
