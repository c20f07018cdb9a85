import { execFile, spawn } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { launchBrowser } from "@resontech/house/launch-browser";
import type { Page } from "playwright-core";
import t from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { type Account, SignInHouse, timeCode } from "@resontech/coordinator/testing/sign-in-house";

import { createProject, planProject } from "@resontech/coordinator/create-project";

const run = promisify(execFile);
t.setTimeout(600_000);
const MAIN = shippedProgram("resontech");
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const browser = await launchBrowser(house.origin);
t.teardown(() => browser.close());
/** A shell of one person, with a home of its own. */
type Shell = { env: NodeJS.ProcessEnv; file: string };

function shellIn(home: string): Shell {
  return {
    env: { PATH: process.env["PATH"], HOME: home, SSL_CERT_FILE: house.caFile },
    file: join(home, ".config", "resontech", "session.json"),
  };
}
const runIn = ({ env }: Shell, ...args: string[]) =>
  run(process.execPath, [MAIN, ...args], { env });
async function refusedIn(shell: Shell, ...args: string[]): Promise<string> {
  return await runIn(shell, ...args).then(
    ({ stdout }) => `not refused: ${stdout}`,
    (thrown: { stderr: string }) => thrown.stderr,
  );
}

/** In a window that shares nothing with that of another sign-in. */
async function inBrowser<T>(url: string, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(url);
    return await work(page);
  } finally {
    await context.close();
  }
}

async function fillPassword(page: Page, { username, password }: Account): Promise<void> {
  await page.fill("#username", username);
  await page.fill("#password", password);
  await page.click("#kc-login");
}

/** The person signs in at the dashboard, which asks for a second factor of such roles. Answers with its secret. */
async function setUpCode(account: Account): Promise<string> {
  return await inBrowser(house.origin, async (page) => {
    await fillPassword(page, account);
    await page.click("#mode-manual");
    const secret = (await page.textContent("#kc-totp-secret-key")) ?? "";
    await page.fill("#totp", timeCode(secret));
    await page.click("#saveTOTPBtn");
    await page.waitForSelector("#who:not([hidden])");
    return secret;
  });
}

/** @param secret of the second factor; null: the person has none */
async function confirmInBrowser(
  url: string,
  account: Account,
  secret: string | null,
): Promise<void> {
  await inBrowser(url, async (page) => {
    await fillPassword(page, account);
    if (secret !== null) {
      // No code is good twice; the next one is good already.
      await page.fill("#otp", timeCode(secret, Date.now() + 30_000));
      await page.click("#kc-login");
    }
    await page.waitForSelector("text=Do you grant these access privileges?");
    await page.click("#kc-login");
    await page.waitForSelector("#kc-page-title");
  });
}

async function signIn(
  { env }: Shell,
  account: Account,
  secret: string | null = null,
): Promise<string> {
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
    confirmInBrowser(url, account, secret).catch((error: unknown) => {
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
  const shell = shellIn(t.testdir());
  const { file } = shell;
  const resontech = (...args: string[]) => runIn(shell, ...args);
  t.match(await signIn(shell, anna), /signed in as anna\n/);
  t.equal(statSync(file).mode & 0o777, 0o600);
  const { stdout } = await resontech("whoami", "--json");
  t.match(JSON.parse(stdout), {
    user: { username: "anna" },
    credential: "session",
    projects: [{ name: "default", role: "project-lead" }],
  });
  t.match((await resontech("whoami")).stdout, /^user +anna .*\nby +sign-in\n/);

  const whoIs = async () =>
    JSON.parse((await resontech("whoami", "--json")).stdout) as { user: { id: string } };

  await t.test("what is over is renewed by one process, though several ask", async (t) => {
    const kept = JSON.parse(readFileSync(file, "utf8")) as { refreshToken: string };
    writeFileSync(file, JSON.stringify({ ...kept, expiresAt: 0 }), { mode: 0o600 });
    const all = await Promise.all(Array.from({ length: 5 }, () => resontech("whoami", "--json")));
    for (const { stdout } of all) t.match(JSON.parse(stdout), { user: { username: "anna" } });
    const renewed = JSON.parse(readFileSync(file, "utf8")) as { refreshToken: string };
    t.not(renewed.refreshToken, kept.refreshToken);
  });

  await t.test("a person of several projects names the one that is meant", async (t) => {
    const wish = { name: "cardiology", team: undefined, leadId: (await whoIs()).user.id };
    const planned = planProject(wish);
    await house.api.commit.run((db) =>
      // Older than her own project: what she means without a word stays her own.
      createProject(db, planned, wish, { quotaBytes: 7 * 1024 ** 3, now: 1 }),
    );
    const both = [house.caFile, house.engine.caFile].map((one) => readFileSync(one, "utf8"));
    const dir = t.testdir({ "ca.pem": both.join("\n"), "scan.txt": "scan" });
    const trusting = {
      ...shell,
      env: { ...shell.env, SSL_CERT_FILE: join(dir, "ca.pem"), RESON_PROJECT: planned.projectId },
    };
    await runIn(trusting, "storage", "put", join(dir, "scan.txt"), "scan.txt");
    const listed = await resontech("storage", "ls", "--project", "cardiology");
    t.match(listed.stdout, /^KEY .*\nscan\.txt /);
    t.match(await refusedIn(shell, "storage", "ls"), /bucket_missing/, "of her own project");
    t.match(await refusedIn(trusting, "submit", MAIN), /project_of_credential/);
    t.match(await refusedIn(shell, "queue", "--project", "none"), /project_unknown/);
    t.match((await resontech("queue", "--project", "cardiology")).stderr, /no job waits/);
  });

  await t.test("a shell is one of the person's sessions, and can be ended", async (t) => {
    const other = shellIn(t.testdir());
    await signIn(other, anna);
    const listed = (await runIn(other, "sessions", "ls", "--json")).stdout.trim().split("\n");
    const sessions = listed.map((line) => JSON.parse(line) as { id: string; current: boolean });
    t.match(sessions, [
      { kind: "shell", current: true },
      { kind: "shell", current: false },
    ]);
    await resontech("sessions", "end", sessions[0]!.id);
    t.match(await refusedIn(other, "whoami"), /invalid_token/);
    t.match((await resontech("whoami")).stdout, /anna/);
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
  t.match(await refusedIn(shell, "whoami"), /not_configured/);
});

t.test("a shell with a second factor has the person's roles, and answers requests", async (t) => {
  const { paul, uma, otto } = {
    paul: await house.addAccount("paul", ["platform-admin"]),
    uma: await house.addAccount("uma", ["security-officer"]),
    otto: await house.addAccount("otto", ["security-officer"]),
  };
  const asked = await house.firstSignIn(await house.addAccount("sam"));
  await house.firstSignIn(otto);
  const secrets = { paul: await setUpCode(paul), uma: await setUpCode(uma) };
  const homes = t.testdir({ paul: {}, uma: {}, otto: {} });
  const shell = (name: string) => shellIn(join(homes, name));

  t.match(await signIn(shell("paul"), paul, secrets.paul), /as paul, with a second factor\n/);
  t.match(
    (await runIn(shell("paul"), "whoami")).stdout,
    /by +sign-in with a second factor\nroles +platform-admin\n/,
  );
  t.match((await runIn(shell("paul"), "nodes", "ls")).stdout, /^NODE +STATE +BUSY/);
  t.match(await refusedIn(shell("paul"), "nodes", "show", "none"), /not_found/);
  const { stderr } = await runIn(
    shell("paul"),
    ...["approvals", "request", "role", asked, "data-steward"],
  );
  const id = /(a_\w+) waits for a second person/.exec(stderr)?.[1] ?? stderr;
  t.match(await refusedIn(shell("paul"), "approvals", "approve", id), /role_required|own_request/);

  await t.test("by password alone a shell has no role, and answers nothing", async (t) => {
    t.match(await signIn(shell("otto"), otto), /signed in as otto\n/);
    t.match((await runIn(shell("otto"), "whoami")).stdout, /roles +none on the whole appliance/);
    t.match(
      await refusedIn(shell("otto"), "approvals", "approve", id),
      /role_required|not_found|step_up_required/,
    );
  });

  t.match(await signIn(shell("uma"), uma, secrets.uma), /as uma, with a second factor\n/);
  t.match((await runIn(shell("uma"), "approvals", "approve", id)).stderr, /^approved: /);
  const given = await house.admin.get<{ name: string }[]>(
    `/resontech/users/${(await house.admin.get<{ id: string }[]>("/resontech/users?username=sam&exact=true"))[0]?.id}/role-mappings/realm`,
  );
  t.ok(given.some(({ name }) => name === "data-steward"));

  await t.test("a lead makes a service account, whose file signs a program in", async (t) => {
    const me = JSON.parse((await runIn(shell("paul"), "whoami", "--json")).stdout) as {
      projects: { id: string }[];
    };
    const project = me.projects[0]!.id;
    const file = join(homes, "nightly.json");
    const create = ["service-accounts", "create", project, "--name", "nightly", "--out", file];
    const { stderr } = await runIn(shell("paul"), ...create);
    const account = /made (sa_\w+), good until 2/.exec(stderr)?.[1] ?? stderr;
    t.equal(statSync(file).mode & 0o777, 0o600);
    t.match(await refusedIn(shell("paul"), ...create), /file_exists/);

    const program = shellIn(t.testdir());
    t.match(
      (await runIn(program, "login", "--service-account", file)).stderr,
      /signed in as the service account nightly\n$/,
    );
    t.match(
      (await runIn(program, "whoami")).stdout,
      /by +service account\nproject +default \(p_\w+\), service-account\n/,
    );
    const kept = JSON.parse(readFileSync(program.file, "utf8")) as { accessToken: string };
    t.notMatch(JSON.stringify(kept), /PRIVATE KEY/);
    writeFileSync(program.file, JSON.stringify({ ...kept, expiresAt: 0 }), { mode: 0o600 });
    t.match((await runIn(program, "projects", "ls")).stdout, project);
    t.not(readFileSync(program.file, "utf8"), JSON.stringify(kept), "a new token by the same key");
    t.match(await refusedIn(program, "service-accounts", "ls", project), /role_required/);

    chmodSync(file, 0o644);
    t.match(await refusedIn(program, "login", "--service-account", file), /account_file_unsafe/);
    chmodSync(file, 0o600);
    t.match((await runIn(shell("paul"), "service-accounts", "ls", project)).stdout, account);
    await runIn(shell("paul"), "service-accounts", "revoke", project, account);
    t.match(await refusedIn(program, "whoami"), /service_account_over/);
    await house.parts.serviceAccounts.sweep();
    t.match(await refusedIn(program, "login", "--service-account", file), /service_account_over/);
    t.match((await runIn(program, "logout")).stderr, /signed out/);
  });

  await t.test("a program may bring its public key, and never its private one", async (t) => {
    const me = JSON.parse((await runIn(shell("paul"), "whoami", "--json")).stdout) as {
      projects: { id: string }[];
    };
    const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const dir = t.testdir({
      "public.json": JSON.stringify(publicKey.export({ format: "jwk" })),
      "private.json": JSON.stringify(privateKey.export({ format: "jwk" })),
    });
    const create = (key: string) => [
      ...["service-accounts", "create", me.projects[0]!.id, "--name", "own"],
      ...["--scope", "jobs:read", "--public-key", join(dir, key)],
    ];
    t.match(await refusedIn(shell("paul"), ...create("private.json")), /key_invalid/);
    const { stdout } = await runIn(shell("paul"), ...create("public.json"));
    t.match(JSON.parse(stdout), { clientId: /^service-account-sa_/, scopes: ["jobs:read"] });
  });
});
