import { execFile, spawn } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { chromium } from "playwright-core";
import t from "tap";
import { shippedProgram } from "../../airgap/test/helper/shipped-program.ts";
import { SignInHouse } from "../../coordinator/test/helper/sign-in-house.ts";

const run = promisify(execFile);
t.setTimeout(300_000);
const MAIN = shippedProgram("resontech");
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const home = t.testdir();
const env = { PATH: process.env["PATH"], HOME: home, SSL_CERT_FILE: house.caFile };
const file = join(home, ".config", "resontech", "session.json");
const resontech = (...args: string[]) => run(process.execPath, [MAIN, ...args], { env });

async function confirmInBrowser(url: string, username: string, password: string): Promise<void> {
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  try {
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(url);
    await page.fill("#username", username);
    await page.fill("#password", password);
    await page.click("#kc-login");
    await page.click("#kc-login");
    await page.waitForSelector("#kc-page-title");
  } finally {
    await browser.close();
  }
}

async function signIn(username: string, password: string): Promise<string> {
  const child = spawn(process.execPath, [MAIN, "login", house.origin], { env });
  let text = "";
  let asked = false;
  const ended = Promise.withResolvers<number | null>();
  child.on("exit", (code) => ended.resolve(code));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    const url = /Open (\S+)/.exec(text)?.[1];
    if (url === undefined || asked) return;
    asked = true;
    confirmInBrowser(url, username, password).catch((error: unknown) => {
      child.kill();
      ended.reject(error);
    });
  });
  if ((await ended.promise) !== 0) throw new Error(text);
  return text;
}

t.test("a person signs a shell in by a code, and the API knows who asks", async (t) => {
  const anna = await house.addAccount("anna");
  // The first sign-in in a browser makes the user; a shell alone makes none.
  await house.firstSignIn(anna);
  t.match(await signIn(anna.username, anna.password), /signed in as anna/);
  t.equal(statSync(file).mode & 0o777, 0o600);
  const { stdout } = await resontech("whoami", "--json");
  t.match(JSON.parse(stdout), {
    user: { username: "anna" },
    credential: "session",
    projects: [{ name: "default", role: "project-lead" }],
  });
  t.match((await resontech("whoami")).stdout, /^user +anna .*\nby +sign-in\n/);

  await t.test("what is over is renewed by one process, though several ask", async (t) => {
    const kept = JSON.parse(readFileSync(file, "utf8")) as { refreshToken: string };
    const { writeFileSync } = await import("node:fs");
    writeFileSync(file, JSON.stringify({ ...kept, expiresAt: 0 }), { mode: 0o600 });
    const all = await Promise.all(Array.from({ length: 5 }, () => resontech("whoami", "--json")));
    for (const { stdout } of all) t.match(JSON.parse(stdout), { user: { username: "anna" } });
    const renewed = JSON.parse(readFileSync(file, "utf8")) as { refreshToken: string };
    t.not(renewed.refreshToken, kept.refreshToken);
  });

  await t.test(
    "a token is refused as soon as Keycloak has said that its session is over",
    async (t) => {
      await house.admin.post(`/resontech/users/${anna.subject}/logout`, {});
      for (let tries = 0; ; tries++) {
        const error = await resontech("whoami").then(
          () => null,
          (thrown: { stderr: string }) => thrown.stderr,
        );
        if (error !== null) {
          t.match(error, /invalid_token|signed_out/);
          break;
        }
        if (tries > 40) throw new Error("still signed in");
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    },
  );
  t.match((await resontech("logout")).stderr, /signed out/);
  const refused = (await resontech("whoami").catch((error: unknown) => error)) as {
    stderr: string;
  };
  t.match(refused.stderr, /not_configured/);
});
