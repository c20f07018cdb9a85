/**
 * Signing in on the installed appliance: how long the way through Keycloak's page takes, how soon somebody is out whom Keycloak no longer lets
 * in, what front door and policies add to a submission, and what memory all parts have.
 *
 * `npm run prove -- sign-in [SIGN-INS] [SUBMISSIONS]`
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { COORDINATOR_NODE_FLAGS } from "@resontech/contracts/coordinator-config";
import { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { PersonBrowser } from "@resontech/coordinator/testing/person-browser";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { fillWorkspaces } from "@resontech/house/filled-workspaces";
import { taskOf } from "@resontech/house/task-of";
import { bench, timed } from "./measure/bench.ts";
import { resourcesByPart } from "./measure/resources-by-part.ts";
import { quantile } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { askBehindTheDoor } from "./sign-in/ask-behind-the-door.ts";

/** IDENTITY and the issue of this proof. */
const GOALS = { backChannelS: 2, removedS: 300, decisionMs: 1, memoryMb: 1_300 };
const PASSWORD = "a-long-and-better-password";

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const signIns = Number(args[0] ?? 30);
  const submissions = Number(args[1] ?? 60);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  const origin = appliance.quickstart()["RESON_BASE_URL"] ?? "";
  const caFile = appliance.quickstart()["SSL_CERT_FILE"] ?? "";

  progress("a person with a password");
  const { userId } = await addPerson(appliance, "signer");
  const admin = await keycloakOf(appliance, origin, caFile);
  const [account] = await admin.get<{ id: string }[]>(
    "/resontech/users?exact=true&username=signer",
  );
  if (account === undefined) throw new Error("keycloak has no account of the person");
  const setPassword = () =>
    admin.put(`/resontech/users/${account.id}/reset-password`, {
      ...{ type: "password", value: PASSWORD, temporary: false },
    });
  await setPassword();

  const { measured } = await bench(
    { signIns: { measure: () => timed(() => signIn(origin, caFile)) } },
    { rounds: signIns },
  );
  const signInMs = measured.signIns;
  progress(`${signIns} sign-ins`);

  const browser = await signIn(origin, caFile);
  const endedAt = performance.now();
  await admin.post(`/resontech/users/${account.id}/logout`, {});
  const backChannelS = (await untilOut(browser, origin, endedAt, GOALS.backChannelS * 10)) / 1000;
  progress(`out ${backChannelS.toFixed(2)} s after Keycloak ended the session`);

  const removed = await signIn(origin, caFile);
  await admin.delete(`/resontech/users/${account.id}`);
  const removedAt = performance.now();
  const removedS = (await untilOut(removed, origin, removedAt, GOALS.removedS)) / 1000;
  progress(`out ${removedS.toFixed(1)} s after the person was removed at Keycloak`);

  const door = await measureDoor(installed, submissions, progress);
  const memoryMb =
    Object.values(resourcesByPart(appliance)).reduce((sum, { pssBytes }) => sum + pssBytes, 0) /
    1e6;
  const decisions = JSON.parse(
    execFileSync(
      process.execPath,
      [
        ...["--expose-gc", ...COORDINATOR_NODE_FLAGS],
        ...[join(import.meta.dirname, "authorization", "decide-many.ts"), "50000", "1"],
      ],
      { encoding: "utf8" },
    ),
  ) as { p99_ms: number };

  const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
  return {
    ok:
      backChannelS <= GOALS.backChannelS &&
      removedS <= GOALS.removedS &&
      decisions.p99_ms <= GOALS.decisionMs &&
      memoryMb <= GOALS.memoryMb,
    figures: {
      user: userId,
      sign_in_p50_ms: round(quantile(signInMs, 0.5)),
      sign_in_p99_ms: round(quantile(signInMs, 0.99)),
      back_channel_s: round(backChannelS),
      removed_local_s: round(removedS, 1),
      ...door,
      decision_p99_ms: decisions.p99_ms,
      memory_mb: round(memoryMb, 1),
      goal_memory_mb: GOALS.memoryMb,
    },
  };
}

async function addPerson(appliance: LocalAppliance, name: string): Promise<{ userId: string }> {
  const { userId } = JSON.parse(await appliance.command(["add-user", name])) as { userId: string };
  await appliance.command(["user", "password", name]);
  return { userId };
}

async function keycloakOf(
  appliance: LocalAppliance,
  origin: string,
  caFile: string,
): Promise<KeycloakAdmin> {
  const config = JSON.parse(
    readFileSync(join(appliance.root, "etc", "appliance.json"), "utf8"),
  ) as { ports: { keycloak: number } };
  const admin = await KeycloakAdmin.asClient(
    {
      ...{ port: config.ports.keycloak, origin, caPem: readFileSync(caFile, "utf8") },
      client: {
        certFile: join(appliance.root, "etc/secrets/appliance/keycloak-client.crt"),
        keyFile: join(appliance.root, "etc/secrets/appliance/keycloak-client.key"),
      },
    },
    "master",
    "resontech-appliance",
    readFileSync(join(appliance.root, "etc/secrets/appliance/keycloak-admin.key"), "utf8"),
  );
  if (admin === null) throw new Error("keycloak does not know the appliance");
  return admin;
}

/** From our page over Keycloak's form to the page again. */
async function signIn(origin: string, caFile: string): Promise<PersonBrowser> {
  const browser = new PersonBrowser(caFile);
  const form = await browser.ask(`${origin}/dashboard`);
  const back = await browser.submit(form, { username: "signer", password: PASSWORD });
  const page = await browser.ask(back.headers.location ?? "");
  if (page.status !== 200 || !browser.cookies.has("__Host-rt"))
    throw new Error(`nobody is signed in: ${page.status} ${page.body.slice(0, 200)}`);
  return browser;
}

/** @returns milliseconds from `since` until the session is refused */
async function untilOut(
  browser: PersonBrowser,
  origin: string,
  since: number,
  limitS: number,
): Promise<number> {
  for (;;) {
    const { status } = await browser.ask(`${origin}/api/me`);
    const ms = performance.now() - since;
    if (status === 401) return ms;
    if (ms > limitS * 1_000 + 10_000) return Number.POSITIVE_INFINITY;
    await sleep(ms < 5_000 ? 20 : 1_000);
  }
}

/** Submissions by turns through the front door and behind it, in one run. */
async function measureDoor(
  installed: ProofAppliance,
  count: number,
  progress: (line: string) => void,
): Promise<Record<string, number>> {
  const { appliance } = installed;
  const held = await fillWorkspaces(installed, "door", count);
  const api = new ApplianceApi(appliance);
  const [through, behind]: [number[], number[]] = [[], []];
  const ids = [held];
  for (let n = 0; n < count; n += 1) {
    const from = performance.now();
    const { status, body } =
      n % 2 === 0
        ? await api.call("POST", "/api/tasks", taskOf(`fill-${n}`))
        : await askBehindTheDoor(appliance, "POST", "/api/tasks", taskOf(`fill-${n}`));
    if (status !== 201) throw new Error(`submission ${n} was answered ${status}`);
    ids.push((body as { id: string }).id);
    (n % 2 === 0 ? through : behind).push(performance.now() - from);
  }
  progress(`${count} submissions, by turns through the front door and behind it`);
  for (const id of ids) await api.call("POST", `/api/tasks/${id}/cancel`);
  for (const id of ids) await api.untilEnded(id, 60_000);
  await untilNothingIsLeft(appliance);
  const [p50, p50Behind] = [quantile(through, 0.5), quantile(behind, 0.5)];
  return {
    submit_p50_ms: Number(p50.toFixed(2)),
    submit_behind_the_door_p50_ms: Number(p50Behind.toFixed(2)),
    door_ratio: Number((p50 / p50Behind).toFixed(3)),
  };
}
