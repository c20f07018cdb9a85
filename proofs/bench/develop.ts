/**
 * `npm run dev` on an installed appliance, in Chromium: how soon a changed component shows, without a reload of the page, and how soon a changed coordinator
 * answers. The tree that changes is a copy of this one.
 *
 * `npm run prove -- develop [TIMES]`
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { ReleaseTree } from "@resontech/house/release-tree";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { freePort } from "@resontech/house/free-port";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";

const START_MS = 180_000;
const SHOWN_LIMIT_MS = 60_000;
const LOOK_MS = 20;
const COMPONENT = {
  file: "dashboard/src/pages/storage/storage-page.tsx",
  text: 'title="Storage"',
};
const WORDS = {
  file: "parts/coordinator/src/http/error-replies.ts",
  text: "`there is no ${request.method}",
};
const GOALS_MS = { component: 2_000, coordinator: 10_000 };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const times = Number(args[0] ?? 5);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  const tree = ReleaseTree.ofThis(installed.folder("tree"));
  await appliance.command(["add-user", "developer"]);
  const port = await freePort();
  progress("npm run dev, with the coordinator of a copy of this tree");
  await using developing = await Developing.start(tree.folder, [
    ...["--root", appliance.root, "--port", String(port), "--inspect", String(await freePort())],
  ]);
  await using browser = await launchApplianceBrowser(appliance, developing.url);
  const { page } = await SignedInPerson.signIn(browser, appliance, "developer");

  progress(`a component that changes, ${times} times`);
  await page.goto(`${developing.url}/dashboard/storage`);
  await page.getByRole("heading", { level: 1, name: "Storage" }).waitFor();
  await page.evaluate("globalThis.isSamePage = true");
  const component: number[] = [];
  for (let n = 1; n <= times; n += 1) {
    const from = performance.now();
    edit(tree, COMPONENT, `title="Storage ${n}"`);
    await page
      .getByRole("heading", { level: 1, name: `Storage ${n}` })
      .waitFor({ timeout: SHOWN_LIMIT_MS });
    component.push(performance.now() - from);
  }
  const isSamePage = (await page.evaluate("globalThis.isSamePage === true")) === true;

  progress(`a coordinator that changes, ${times} times`);
  const api = new ApplianceApi(appliance);
  const coordinator: number[] = [];
  for (let n = 1; n <= times; n += 1) {
    const from = performance.now();
    edit(tree, WORDS, `\`words ${n}: no \${request.method}`);
    await untilDeveloped(api, String(n));
    coordinator.push(performance.now() - from);
  }
  const isGivenBack = (await developing.end()) === 0;
  await appliance.command(["start"]);
  const shown = {
    component_ms: component.map(Math.round),
    coordinator_ms: coordinator.map(Math.round),
  };
  const [slowest, answered] = [quantile(component, 1), quantile(coordinator, 1)];
  return {
    ok:
      slowest < GOALS_MS.component && answered < GOALS_MS.coordinator && isSamePage && isGivenBack,
    figures: {
      ...shown,
      component_worst_ms: Math.round(slowest),
      coordinator_worst_ms: Math.round(answered),
      ...{ isSamePage, isGivenBack },
    },
  };
}

/** In place of what stood there at the beginning, or of what stands there since. */
function edit(
  { folder }: ReleaseTree,
  { file, text }: { file: string; text: string },
  changed: string,
): void {
  const path = join(folder, file);
  const before = originals.get(path) ?? readFileSync(path, "utf8");
  originals.set(path, before);
  if (!before.includes(text)) throw new Error(`${file} has no ${text} any more`);
  writeFileSync(path, before.replace(text, changed));
}
const originals = new Map<string, string>();

/** While the coordinator starts anew, the door answers in its place. */
async function untilDeveloped(api: ApplianceApi, value: string): Promise<void> {
  for (const end = performance.now() + SHOWN_LIMIT_MS; ; await sleep(LOOK_MS)) {
    const answer = await api.call("GET", "/api/no-such-thing").catch(() => null);
    if (JSON.stringify(answer?.body ?? null).includes(`words ${value}: no GET`)) return;
    if (performance.now() > end) throw new Error(`the coordinator does not answer as of ${value}`);
  }
}

/** `npm run dev`, as long as it lasts. */
class Developing implements AsyncDisposable {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(folder: string, args: readonly string[]): Promise<Developing> {
    const child = spawn(process.execPath, ["dev/develop.ts", ...args], {
      ...{ cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
    });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
    for (const end = performance.now() + START_MS; ; await sleep(LOOK_MS)) {
      const url = /pages\s+(https:\S+?)\/dashboard/.exec(said)?.[1];
      if (url !== undefined) return new Developing(child, url);
      if (child.exitCode !== null || performance.now() > end) {
        child.kill("SIGKILL");
        throw new Error(`npm run dev did not start: ${said}`);
      }
    }
  }

  /** As Ctrl-C does. @returns its exit code */
  async end(): Promise<number | null> {
    if (this.#child.exitCode === null) {
      const ended = once(this.#child, "exit");
      this.#child.kill("SIGINT");
      await ended;
    }
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}
