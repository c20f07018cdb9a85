/**
 * An installed appliance gets another name and then its first one back, beneath a job, a chat endpoint and a URL that was handed out: what goes on, what
 * asks people to sign in anew, and how long the doors are away.
 *
 *     npm run prove -- renamed-appliance
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import { runChild } from "@resontech/house/run-child";
import { HostsEntry } from "@resontech/house/hosts-entry";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { SwitchWatch } from "@resontech/house/switch-watch";
import { isVerified } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { FirstBucket } from "../audit/operations/first-bucket.ts";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { ProofContext, ProofResult } from "../proof.ts";
import { isUntouched, LastingJob } from "./life/lasting-job.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { verifyLife } from "./life/verify-life.ts";

const FIRST = "first.appliance.example";
const SECOND = "second.appliance.example";
const ADDRESS = "127.0.0.1";
const ANSWERS_MS = 120_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using _first = new HostsEntry(FIRST, ADDRESS);
  using _second = new HostsEntry(SECOND, ADDRESS);
  const installed = await ProofAppliance.install(progress, undefined, {
    ...{ cpuWorkers: 3, perimeter: { name: FIRST, address: ADDRESS } },
  });
  const { lived: figures, left } = await liveAndUninstall(installed, () =>
    live(installed, progress),
  );
  const { renames, job, audit, dry_run: dryRun } = figures;
  return {
    ok:
      !dryRun.changed &&
      renames.length === 2 &&
      renames.every(
        (one) => one.endpoint && one.shared_url && one.signed_in && !one.old_session && one.told,
      ) &&
      isUntouched(job, "RUNNING") &&
      isVerified(audit) &&
      left.length === 0,
    figures: { ...figures, left_after_uninstall: left },
  };
}

async function live(installed: ProofAppliance, progress: (line: string) => void) {
  const { appliance } = installed;
  await using stack = new AsyncDisposableStack();
  progress("a job, a chat endpoint, a URL that is handed out, a person who is signed in");
  const user = await appliance.addUser("renamed");
  const lasting = await LastingJob.wait(user, installed.folder("job"));
  const first = new ApplianceApi(user);
  using bucket = await FirstBucket.open(user, first);
  first.close();
  const chat = await ChatDeployment.make(user, installed.folder("chat"), { slots: 2 });
  await chat.deploy();
  const said = await chat.answer();
  const shared = await bucket.s3.presign("GET", [bucket.name, LastingJob.SCRIPT], {}, 3_600);
  const browser = await launchApplianceBrowser(appliance);
  stack.defer(() => browser.close());
  let person = await SignedInPerson.signIn(browser, appliance, "renamed");

  const before = stateOf(appliance);
  const plan = await appliance.command(["rename", SECOND, "--dry-run"]);
  const dryRun = { lines: plan.trim().split("\n").length, changed: stateOf(appliance) !== before };
  const renames = [];
  for (const name of [SECOND, FIRST]) {
    progress(`rename to ${name}`);
    const [door, store] = [SwitchWatch.ofApi(appliance), SwitchWatch.ofS3(appliance)];
    const from = performance.now();
    await appliance.command(["rename", name, "--yes"]);
    const seconds = (performance.now() - from) / 1_000;
    await untilHealthy(appliance);
    const endpoint = await chat.saysAgain(said, ANSWERS_MS);
    const [seen, seenStore] = [await door.end(), await store.end()];
    const oldSession = await isSignedIn(appliance, person);
    person = await SignedInPerson.signIn(browser, appliance, "renamed");
    renames.push({
      ...{ name, seconds: Math.round(seconds), endpoint },
      told: user.quickstart()["RESON_BASE_URL"]?.includes(`//${name}:`) === true,
      shared_url: await isServed(appliance, shared),
      old_session: oldSession,
      signed_in: await isSignedIn(appliance, person),
      api_away_s: seen.awayMs.map((ms) => Math.round(ms / 100) / 10),
      s3_away_s: seenStore.awayMs.map((ms) => Math.round(ms / 100) / 10),
    });
    progress(`  ${JSON.stringify(renames.at(-1))}`);
  }
  const job = await lasting.state();
  return { renames, dry_run: dryRun, job, audit: await verifyLife(installed) };
}

/** The configuration, and every part's process. */
function stateOf(appliance: LocalAppliance): string {
  const parts = appliance.status().parts.map(({ name, pid }) => [name, pid]);
  const config = readFileSync(join(appliance.root, "etc", "appliance.json"), "utf8");
  return JSON.stringify([parts, config]);
}

/** Whether the URL, under the name that the appliance had when it was handed out, still gives the object. */
async function isServed(appliance: LocalAppliance, url: string): Promise<boolean> {
  const { SSL_CERT_FILE: root = "" } = appliance.quickstart();
  const got = await runChild("curl", ["--silent", "--fail", "--cacert", root, url], {
    quiet: true,
  }).catch(() => "");
  return got.includes("time.sleep");
}

/** Whether the pages of the appliance, under its name of now, know the person. */
async function isSignedIn(appliance: LocalAppliance, { page }: SignedInPerson): Promise<boolean> {
  await page.goto(`${appliance.quickstart()["RESON_BASE_URL"]}/`);
  const inside = page.getByRole("navigation", { name: "Pages" });
  await inside.or(page.locator("#username")).first().waitFor();
  return await inside.isVisible();
}
