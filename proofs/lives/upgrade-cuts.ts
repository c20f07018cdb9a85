/**
 * An appliance whose upgrade and rollback are broken off: by kill -9 of the installer or of everything at each line of the journal, between the
 * migrations of two databases, by a full disk at each step, by a release that never gets healthy, and by two at once. Each is taken to its end or back,
 * beneath a job that goes on.
 *
 *     npm run prove -- upgrade-cuts [NAME,NAME…]    lines, disks, never, together; all unless said
 */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import type { BundleSummary, LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { SmallDisk } from "@resontech/house/small-disk";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { ProofContext, ProofResult } from "../proof.ts";
import { isUntouched, type JobState, LastingJob } from "./life/lasting-job.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { TestReleases } from "./life/test-releases.ts";
import { verifyLife } from "./life/verify-life.ts";
import { cutPower } from "./upgrade/power-cut.ts";

const NAMES = ["lines", "disks", "never", "together"] as const;
type Name = (typeof NAMES)[number];

/** Lines of an upgrade before anything stopped, in their order. */
const BEFORE_SWITCH = [
  ...["begin", "import:started", "import:done", "stage:started", "stage:done"],
  ...["registry:started", "registry:done"],
];
const AFTER_SWITCH = [
  ...["switch:started", "switch:done", "start:started", "start:done"],
  ...["images:started", "images:done", "first-boot:started", "first-boot:done"],
];
const OF_ROLLBACK = [
  ...["return:started", "begin", "import:done", "stage:done", "registry:done", "switch:done"],
  ...["start:done", "images:done", "first-boot:done"],
];
const FULL_AT = [
  ...["import:started", "stage:started", "registry:started", "switch:started"],
  ...["start:started", "images:started", "first-boot:started"],
];
const RECOVERIES = ["again", "power"] as const;
type Recovery = (typeof RECOVERIES)[number];

const VERSIONS = { older: "0.1.0", newer: "0.2.0", never: "0.3.0" };
const ROOT_DISK_BYTES = 16 * 1024 ** 3;
const SETTLED_MS = 420_000;
/** From lengthened leases to the end of a return. */
const MAX_SWITCH_S = 900;
const HOOK = join(import.meta.dirname, "upgrade", "at-journal-line.ts");

/** How a command of the installer ended. @property code the stable code of its error, if it said one */
type Ended = { status: number | null; code: string | null; seconds: number };
/** @property faults what was not as it should be; empty when all was */
type Cut = {
  cut: string;
  recovery: string;
  runs: string;
  seconds: number;
  faults: string[];
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const names = (args[0]?.split(",") ?? NAMES) as Name[];
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0)
    throw new TypeError(`nothing named ${unknown.join(", ")}; there are ${NAMES.join(", ")}`);
  using releases = new TestReleases();
  progress("building three releases");
  const bundles = await buildAll(releases, names);
  const installed = await ProofAppliance.install(progress, bundles.older, { cpuWorkers: 2 });
  const { lived: figures, left } = await liveAndUninstall(installed, async () => {
    const place = await CutPlace.open(installed, bundles, progress);
    await using _place = place;
    const cuts: Cut[] = [];
    if (names.includes("lines")) cuts.push(...(await atLines(place)));
    if (names.includes("together")) cuts.push(...(await together(place)));
    if (names.includes("never")) cuts.push(await neverHealthy(place));
    const job = await place.job();
    if (names.includes("disks")) cuts.push(...(await onFullDisks(place, installed.folder("disk"))));
    return { cuts, job, audit: await verifyLife(installed, Object.values(bundles)) };
  });
  const { cuts, job, audit } = figures;
  const faulty = cuts.filter(({ faults }) => faults.length > 0);
  const count = (runs: string): number => cuts.filter((cut) => cut.runs === runs).length;
  return {
    ok:
      faulty.length === 0 &&
      cuts.length > 0 &&
      job.attempt === 1 &&
      isVerified(audit) &&
      left.length === 0,
    figures: {
      cut_count: cuts.length,
      ended_newer: count(VERSIONS.newer),
      ended_older: count(VERSIONS.older),
      faulty_count: faulty.length,
      slowest_s: Math.max(...cuts.map(({ seconds }) => seconds)),
      ...{ faulty, cuts, job, audit, left_after_uninstall: left },
    },
  };
}

type Bundles = { older: BundleSummary; newer: BundleSummary; never: BundleSummary };

async function buildAll(releases: TestReleases, names: readonly Name[]): Promise<Bundles> {
  const build = (name: keyof typeof VERSIONS, releaseNumber: number, more: object = {}) =>
    releases.ofThis(name, { version: VERSIONS[name], releaseNumber, ...more });
  const older = await build("older", 1);
  const migration = "CREATE TABLE of_a_test (id INTEGER PRIMARY KEY) STRICT";
  const newer = await build("newer", 2, { migration });
  const never = names.includes("never")
    ? await build("never", 3, { migration, isNeverHealthy: true })
    : newer;
  return { older, newer, never };
}

/** Every line of both ways; what does not stop anything is cut in one upgrade, one line after another. */
async function atLines(place: CutPlace): Promise<Cut[]> {
  const cuts: Cut[] = [];
  for (const line of BEFORE_SWITCH) {
    const pids = place.pids();
    const ended = await place.upgrade({ RT_PROOF_LINE: line });
    const faults = [...place.faultsOfCut(ended, VERSIONS.older), ...(await place.faults())];
    if (place.pids() !== pids) faults.push("a part was stopped before the switch");
    cuts.push(place.tell({ cut: `upgrade ${line}`, recovery: "none", ...ended, faults }));
  }
  cuts.push(await betweenDatabases(place));
  const all = (lines: readonly string[]) =>
    lines.flatMap((line) => RECOVERIES.map((recovery) => ({ line, recovery })));
  const [ups, downs] = [all(AFTER_SWITCH), all(OF_ROLLBACK)];
  for (let at = 0; at < Math.max(ups.length, downs.length); at++) {
    // The newer release runs.
    const down = downs[at];
    if (down === undefined) await place.rollback();
    else cuts.push(await cutAndRecover(place, "rollback", down));
    const up = ups[at];
    if (up === undefined) await place.upgrade();
    else cuts.push(await cutAndRecover(place, "upgrade", up));
  }
  await place.rollback();
  return cuts;
}

async function cutAndRecover(
  place: CutPlace,
  kind: "upgrade" | "rollback",
  { line, recovery }: { line: string; recovery: Recovery },
): Promise<Cut> {
  const from = performance.now();
  const goal = kind === "upgrade" ? VERSIONS.newer : VERSIONS.older;
  const ended = await place[kind]({ RT_PROOF_LINE: line });
  const faults = place.faultsOfCut(ended);
  if (recovery === "power") await place.restartAll();
  else {
    const again = await place[kind]();
    const isOver = again.code === "no_earlier_release" && line === "first-boot:done";
    if (again.status !== 0 && !isOver)
      faults.push(`the same command ended with ${again.status} ${again.code}`);
  }
  faults.push(...(await place.faults(goal)));
  const seconds = (performance.now() - from) / 1_000;
  return place.tell({ cut: `${kind} ${line}`, recovery, seconds, faults });
}

/** Everything dies when the coordinator's database has the new form, and Keycloak's and the audit log have not been opened by the new release. */
async function betweenDatabases(place: CutPlace): Promise<Cut> {
  const from = performance.now();
  const running = place.upgrade();
  while (!place.isMigrated()) await sleep(20);
  await place.restartAll();
  const ended = await running;
  const faults = [
    ...(ended.status === 0 ? ["the installer ended before the cut"] : []),
    ...(await place.faults(VERSIONS.newer)),
  ];
  const seconds = (performance.now() - from) / 1_000;
  return place.tell({ cut: "between databases", recovery: "power", seconds, faults });
}

async function together(place: CutPlace): Promise<Cut[]> {
  const both = async (
    cut: string,
    works: [Promise<Ended>, Promise<Ended>],
    goals: readonly string[],
  ): Promise<Cut> => {
    const from = performance.now();
    const ended = await Promise.all(works);
    const codes = ended.map(({ status, code }) => `${status} ${code}`).join(", ");
    const good = ended.filter(({ status }) => status === 0).length;
    const faults = good === 1 ? [] : [`${good} went through: ${codes}`];
    faults.push(
      ...ended.flatMap(({ status, code }) => (status !== 0 && code === null ? [codes] : [])),
    );
    if (!goals.includes(place.version())) faults.push(`${place.version()} runs`);
    faults.push(...(await place.faults(place.version())));
    const seconds = (performance.now() - from) / 1_000;
    return place.tell({ cut, recovery: "none", seconds, faults });
  };
  const { older, newer } = VERSIONS;
  return [
    await both("two upgrades at once", [place.upgrade(), place.upgrade()], [newer]),
    await both("two rollbacks at once", [place.rollback(), place.rollback()], [older]),
    await (async () => {
      await place.upgrade();
      const cut = await both(
        "a rollback and an upgrade at once",
        [place.rollback(), place.upgrade()],
        [older, newer],
      );
      if (place.version() === newer) await place.rollback();
      return cut;
    })(),
  ];
}

async function neverHealthy(place: CutPlace): Promise<Cut> {
  const ended = await place.upgrade({}, "never");
  const faults = [
    ...(ended.code === "upgrade_returned" ? [] : [`it ended with ${ended.status} ${ended.code}`]),
    ...(ended.seconds <= MAX_SWITCH_S ? [] : [`it took ${ended.seconds} s`]),
    ...(await place.faults(VERSIONS.older)),
  ];
  return place.tell({ cut: "never healthy", recovery: "itself", ...ended, faults });
}

/** The disk that holds the whole installation, filled to its last block when a step begins, freed once the installer has ended. */
async function onFullDisks(place: CutPlace, work: string): Promise<Cut[]> {
  const { appliance } = place;
  // A container can't follow its files to another disk.
  await place.endJob();
  await appliance.command(["stop", "--for", "900"]);
  const disk = SmallDisk.under(appliance.root, ROOT_DISK_BYTES, work);
  const cuts: Cut[] = [];
  try {
    await appliance.command(["start"]);
    for (const line of FULL_AT) {
      const from = performance.now();
      const flag = join(work, "fill");
      const wait = `touch ${flag}; while [ -e ${flag} ]; do sleep 0.05; done`;
      const running = place.upgrade({ RT_PROOF_LINE: line, RT_PROOF_DO: wait });
      const over = new AbortController();
      void running.finally(() => over.abort());
      while (!existsSync(flag) && !over.signal.aborted) await sleep(20);
      if (!over.signal.aborted) disk.fill();
      rmSync(flag, { force: true });
      const ended = await running;
      const faults = ended.code === null && ended.status !== 0 ? ["no code was said"] : [];
      disk.free();
      const again =
        place.version() === VERSIONS.newer && ended.status === 0 ? ended : await place.upgrade();
      if (again.status !== 0)
        faults.push(`the same command ended with ${again.status} ${again.code}`);
      faults.push(...(await place.faults(VERSIONS.newer)));
      const seconds = (performance.now() - from) / 1_000;
      const cut = `full disk at ${line}: ${ended.status} ${ended.code}`;
      cuts.push(place.tell({ cut, recovery: "again", seconds, faults }));
      await place.rollback();
    }
  } finally {
    await appliance.command(["stop", "--for", "900"]);
    disk[Symbol.dispose]();
    await appliance.command(["start"]);
  }
  return cuts;
}

/** An appliance whose installer is cut, with a job that must not notice. */
class CutPlace implements AsyncDisposable {
  readonly appliance: LocalAppliance;
  readonly #bundles: Bundles;
  readonly #job: LastingJob;
  readonly #progress: (line: string) => void;
  #hasJob = true;

  private constructor(
    appliance: LocalAppliance,
    bundles: Bundles,
    job: LastingJob,
    progress: (line: string) => void,
  ) {
    this.appliance = appliance;
    this.#bundles = bundles;
    this.#job = job;
    this.#progress = progress;
  }

  static async open(
    installed: ProofAppliance,
    bundles: Bundles,
    progress: (line: string) => void,
  ): Promise<CutPlace> {
    const job = await LastingJob.wait(installed.appliance, installed.folder("job"));
    return new CutPlace(installed.appliance, bundles, job, progress);
  }

  upgrade(env: Record<string, string> = {}, to: keyof Bundles = "newer"): Promise<Ended> {
    const { bundle } = this.#bundles[to];
    return runCut("sh", [join(bundle, "install.sh"), "--root", this.appliance.root, "--yes"], env);
  }

  rollback(env: Record<string, string> = {}): Promise<Ended> {
    const { root } = this.appliance;
    return runCut(this.#command(), ["--root", root, "rollback", "--yes"], env);
  }

  /** Everything dies; then what a boot of the host does. */
  async restartAll(): Promise<void> {
    const { root } = this.appliance;
    await cutPower(root);
    // It may be stopped again by the installer that it asks to go on.
    const boot = spawn(this.#command(), ["--root", root, "start"], { stdio: "ignore" });
    boot.unref();
    for (const end = Date.now() + SETTLED_MS; Date.now() < end; await sleep(500)) {
      if (this.#isSettled()) return;
    }
    throw new Error("nobody took the switch to its end");
  }

  /** Of the release that runs. */
  version(): string {
    return basename(readlinkSync(join(this.appliance.root, "current"))).split("-")[0] ?? "";
  }

  /** Of every part: another one where one was stopped. */
  pids(): string {
    return JSON.stringify(this.appliance.status().parts.map(({ name, pid }) => [name, pid]));
  }

  isMigrated(): boolean {
    const file = join(this.appliance.root, "data", "coordinator", "coordinator.db");
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'of_a_test'").get() !== undefined;
    } finally {
      db.close();
    }
  }

  job(): Promise<JobState> {
    return this.#job.state();
  }

  /** Of an installer that was to be killed. @param version that must run all the same */
  faultsOfCut({ status }: Ended, version?: string): string[] {
    return [
      ...(status === 0 ? ["the installer was not cut"] : []),
      ...(version === undefined || this.version() === version ? [] : [`${this.version()} runs`]),
    ];
  }

  /** What is not as it is on an appliance that nobody cut. @param version that must run */
  async faults(version?: string): Promise<string[]> {
    const found: string[] = [];
    if (version !== undefined && this.version() !== version) found.push(`${this.version()} runs`);
    if (version !== undefined && !this.#isSettled()) found.push("the journal is open");
    try {
      await untilHealthy(this.appliance);
      const job = await this.job();
      if (this.#hasJob && !isUntouched(job, "RUNNING"))
        found.push(`the job is ${job.status}, attempt ${job.attempt}`);
      const users = await this.appliance.command(["user", "ls", "--json"]);
      if (!users.includes('"researcher"')) found.push("the first user is gone");
    } catch (error) {
      found.push(error instanceof Error ? error.message : String(error));
    }
    return found;
  }

  tell(cut: Omit<Cut, "runs">): Cut {
    const runs = this.version();
    const told = { ...cut, runs, seconds: Math.round(10 * cut.seconds) / 10 };
    const { cut: what, recovery, seconds, faults } = told;
    const state = faults.length === 0 ? "as it should be" : faults.join("; ");
    this.#progress(`  ${what} (${recovery}): ${runs} after ${seconds} s, ${state}`);
    return { cut: what, recovery, runs, seconds, faults };
  }

  async endJob(): Promise<void> {
    this.#hasJob = false;
    await this.#job.cancel();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#hasJob) await this.endJob().catch(() => undefined);
  }

  #command(): string {
    return join(this.appliance.root, "current", "bin", "appliance");
  }

  /** The journal's last run is whole; a later one of the same release may have done a step of it anew. */
  #isSettled(): boolean {
    const file = join(this.appliance.root, "journal", "journal.jsonl");
    const lines = readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { kind: string; step?: string; state?: string });
    const last = lines.slice(lines.findLastIndex(({ kind }) => kind === "begin"));
    const { step, state } = last.at(-1) ?? {};
    return (
      last.some((line) => line.step === "first-boot" && line.state === "done") &&
      state === "done" &&
      step !== "return"
    );
  }
}

/** @param env what the installer is to do at which line */
async function runCut(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<Ended> {
  const from = performance.now();
  const hook = env["RT_PROOF_LINE"] === undefined ? {} : { NODE_OPTIONS: `--import=${HOOK}` };
  const child = spawn(command, args, {
    env: { ...process.env, ...hook, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", resolve);
  });
  const said = text(child.stderr).catch(() => "");
  const status = await ended;
  const seconds = (performance.now() - from) / 1_000;
  // What it started may hold its standard error for longer.
  const heard = await Promise.race([said, sleep(2_000, "")]);
  const codes = [...heard.matchAll(/\[([a-z_]+)\]/g)];
  return { status, code: codes.at(-1)?.[1] ?? null, seconds };
}
