/** The dashboard of `npm run dev`: a copy of its sources in front of a coordinator that runs. */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serveDashboard } from "@resontech/dashboard/serve-dashboard";
import { launchBrowser } from "@resontech/house/launch-browser";
import { makeCertificate } from "@resontech/house/make-certificate";
import t from "tap";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { freePort } from "@resontech/house/free-port";
import { shippedPages } from "./helper/shipped-pages.ts";

const ROOM = join(import.meta.dirname, "..");

t.setTimeout(600_000);

t.test(
  "a person who is signed in sees a changed component without loading the page anew",
  async (t) => {
    const running = await RunningCoordinator.create({
      identity: true,
      dashboardDir: shippedPages(),
    });
    t.teardown(() => running[Symbol.asyncDispose]());
    const folder = t.testdir({ room: {} });
    const room = join(folder, "room");
    for (const name of ["src", "index.html", "package.json"])
      cpSync(join(ROOM, name), join(room, name), { recursive: true });
    // Its own React is there: the tree has another one.
    symlinkSync(join(ROOM, "node_modules"), join(room, "node_modules"));
    await makeCertificate(room);
    const served = await serveDashboard({
      appliance: new URL(running.url),
      ca: running.caPem,
      own: {
        ...{ name: "localhost", address: "127.0.0.1", port: await freePort() },
        ...{
          key: readFileSync(join(room, "server.key"), "utf8"),
          cert: readFileSync(join(room, "server.crt"), "utf8"),
        },
      },
      ...{ cacheDir: join(folder, "cache"), room },
    });
    t.teardown(() => served.close());
    const browser = await launchBrowser(served.url);
    t.teardown(() => browser.close());
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);

    const led = await context.request.get(`${served.url}/dashboard`, { maxRedirects: 0 });
    t.equal(led.status(), 302, "nobody is signed in");
    t.match(led.headers()["location"], /^\/auth\/sign-in\?return=/);

    const { userId } = await running.control("add-user", { username: "ada" });
    const { cookie } = (await running.signedIn(userId, { roles: [] })) as { cookie: string };
    await context.addCookies([
      {
        ...{ name: "__Host-rt", value: cookie.slice("__Host-rt=".length), url: served.url },
        ...{ secure: true, httpOnly: true, sameSite: "Lax" },
      },
    ]);
    const told = Promise.withResolvers<unknown>();
    page.on("websocket", (socket) => {
      if (socket.url().endsWith("/api/live")) socket.once("framereceived", told.resolve);
    });
    await page.goto(`${served.url}/dashboard`);
    await told.promise;
    await page.getByRole("button", { name: "ada" }).click();
    await page.getByRole("menuitem", { name: "Your profile" }).click();
    await page.waitForSelector("#account");
    await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));

    const file = join(room, "src/pages/profile/account.tsx");
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace('title="Signed in"', 'title="Who I am"'),
    );
    await page.getByText("Who I am").waitFor();
    t.ok(await page.evaluate(() => "isSamePage" in globalThis), "the page was not loaded anew");
  },
);
