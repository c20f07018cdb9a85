/**
 * One appliance through its releases: N−1, an earlier commit, then this tree as N, a test release with one more migration as N+1, back to N, and N+1
 * again. A federated job, jobs that wait behind it, a chat endpoint under streams, an open page, a person's key and pair and a second factor live through
 * every switch.
 *
 *     npm run prove -- upgrade-chain
 *
 * It needs the history of the repository.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { S3ObjectStore } from "@resontech/coordinator/object-store";
import { S3ResponseError, S3Transport } from "@resontech/coordinator/s3-transport";
import { launchApplianceBrowser } from "@resontech/house/appliance-browser";
import { SignedInPerson } from "@resontech/house/signed-in-person";
import { Workstation } from "@resontech/house/workstation";
import { ChatDeployment } from "@resontech/house/chat-deployment";
import { runChild } from "@resontech/house/run-child";
import type { BundleSummary, LocalAppliance } from "@resontech/house/local-appliance";
import { SwitchWatch } from "@resontech/house/switch-watch";
import { auditReport, isVerified, verdictsOf } from "@resontech/house/verify-audit";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { isUntouched, LastingJob } from "./life/lasting-job.ts";
import { liveAndUninstall } from "./life/live-and-uninstall.ts";
import { TestReleases } from "./life/test-releases.ts";
import { type WaitedJob, WaitingJobs } from "./upgrade/waiting-jobs.ts";

/** The last one before duties bound the person behind each credential: its first administrator has a key and a pair. */
const BEFORE = "b8f982c2";
const ROUNDS = 300;
/** Two sites and the chat endpoint: for a further job there is no room. */
const CPU_WORKERS = 3;
const STREAMS = 2;
const STREAM_TOKENS = 40;
const PAGE_MS = 60_000;
const JOB_MS = 900_000;
const ANSWERS_MS = 60_000;
const MAX_ROLLBACK_S = 60;
const MAX_NOTHING_S = 5;
const MAX_DISK_RATIO = 1.05;

type Bundles = { before: BundleSummary; now: BundleSummary; next: BundleSummary };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  using releases = new TestReleases();
  const bundles = await buildAll(releases, progress);
  const installed = await ProofAppliance.install(progress, bundles.before, {
    cpuWorkers: CPU_WORKERS,
  });
  const { lived: figures, left } = await liveAndUninstall(installed, () =>
    live(installed, bundles, progress),
  );
  const { switches, job, waited, page, audit, nothing_s: nothing } = figures;
  return {
    ok:
      isUntouched({ ...job, status: job.state }, "FINISHED") &&
      switches.every(
        ({ answers, row, bucket, pair, administrator }) =>
          answers &&
          row &&
          bucket &&
          pair === "ok" &&
          administrator.key === "role_conflict" &&
          administrator.pair === "InvalidAccessKeyId",
      ) &&
      // The third one waits for the first.
      switches.every(({ waiting }) => waiting.join() === "QUEUED,QUEUED,HELD") &&
      waited.every((one) => isUntouched(one, "FINISHED")) &&
      isInOrder(waited) &&
      switches.every(({ strange }) => strange === 0) &&
      switches.every(({ kind, seconds }) => kind !== "rollback" || seconds < MAX_ROLLBACK_S) &&
      switches.every(({ disk_ratio: ratio }) => ratio === null || ratio <= MAX_DISK_RATIO) &&
      nothing < MAX_NOTHING_S &&
      page.caught_up === switches.length &&
      isVerified(audit) &&
      left.length === 0,
    figures: { ...figures, left_after_uninstall: left },
  };
}

async function buildAll(
  releases: TestReleases,
  progress: (line: string) => void,
): Promise<Bundles> {
  progress(`building N−1 from ${BEFORE}, N and N+1`);
  return {
    before: await releases.ofCommit("before", BEFORE),
    now: await releases.ofThis("now", { version: "0.2.0", releaseNumber: 2 }),
    next: await releases.ofThis("next", {
      ...{ version: "0.3.0", releaseNumber: 3 },
      migration: "CREATE TABLE of_a_test (id INTEGER PRIMARY KEY) STRICT",
    }),
  };
}

async function live(installed: ProofAppliance, bundles: Bundles, progress: (line: string) => void) {
  const { appliance } = installed;
  await using stack = new AsyncDisposableStack();
  progress("a person, a key and a bucket of N−1; a chat endpoint, a federated job, an open page");
  // Whoever administers the platform sees no jobs: what lives through the switches is a user's own.
  const users = await appliance.addUser("of-before");
  const file = join(installed.folder("kept"), "kept.txt");
  writeFileSync(file, "of the release before");
  const shellOf = (of: LocalAppliance, ...words: string[]) =>
    runChild(join(appliance.root, "current", "bin", "resontech"), words, {
      ...{ env: { PATH: process.env["PATH"], ...of.quickstart() }, quiet: true },
    });
  const shell = (...words: string[]) => shellOf(users, ...words);
  await shell("storage", "put", file, "kept/kept.txt");
  await shellOf(appliance, "storage", "put", file, "kept/administrators.txt");
  const chat = await ChatDeployment.make(users, installed.folder("chat"), { slots: 4 });
  const deployed = await chat.deploy();
  const said = await chat.answer();
  const digits = await Workstation.open(users, installed.folder("digits"));
  await digits.python(["/example/make_shards.py", "--out", "/work"]);
  const job = await LastingJob.train(users, digits, { rounds: ROUNDS }, progress);
  await job.untilRunning();
  using waiting = await WaitingJobs.begin(users, installed.folder("waiting"));
  for (const name of ["first", "second"]) await waiting.submit(name);
  const browser = await launchApplianceBrowser(appliance);
  stack.defer(() => browser.close());
  const person = await SignedInPerson.signIn(browser, appliance, "of-before");
  await person.open(`/jobs/${job.id}`);
  if (!(await roundOnPage(person, 0)))
    throw new Error(`the page shows no round: ${await person.page.locator("body").innerText()}`);

  const streams = chat.streams();
  const streaming = streams.run(STREAMS, STREAM_TOKENS);
  const switches = [];
  let caughtUp = 0;
  const steps = [
    { kind: "upgrade", name: "N", bundle: bundles.now },
    { kind: "upgrade", name: "N+1", bundle: bundles.next },
    { kind: "rollback", name: "N", bundle: bundles.now },
    { kind: "upgrade", name: "N+1", bundle: bundles.next },
  ] as const;
  for (const { kind, name, bundle } of steps) {
    progress(`${kind} to ${name}`);
    const [doors, store] = [SwitchWatch.ofApi(appliance), SwitchWatch.ofS3(appliance)];
    const from = Date.now();
    const disk = kind === "upgrade" ? await DiskWatch.begin(appliance, bundle.bundle) : null;
    if (kind === "rollback") await appliance.command(["rollback", "--yes"]);
    else await appliance.upgrade(bundle.bundle);
    const seconds = (Date.now() - from) / 1_000;
    const diskRatio = disk === null ? null : await disk.end();
    const answers = await chat.saysAgain(said, ANSWERS_MS);
    // A release that knows of it is there now.
    if (!waiting.names.includes("third")) await waiting.submit("third", { after: "first" });
    const [seen, seenStore] = [await doors.end(), await store.end()];
    const { task } = await job.reply();
    const round = task.detail.rounds.current ?? ROUNDS;
    if (await roundOnPage(person, round)) caughtUp += 1;
    const listed = JSON.parse(await appliance.command(["user", "ls", "--json"])) as {
      username: string;
    }[];
    switches.push({
      ...{ kind, to: name, seconds: tenths(seconds) },
      phases_s: kind === "upgrade" ? lastPhases(appliance) : null,
      api_away_s: seen.awayMs.map((ms) => tenths(ms / 1_000)),
      s3_away_s: seenStore.awayMs.map((ms) => tenths(ms / 1_000)),
      strange: seen.strange.length,
      ...{ answers, disk_ratio: diskRatio },
      row: listed.some(({ username }) => username === "of-before"),
      bucket: (await shell("storage", "ls", "kept/", "--json")).includes("kept/kept.txt"),
      pair: await listsByPair(users),
      // Who administers loses the data, by key and by pair, and keeps the key itself.
      administrator: {
        key: await refusalOf(shellOf(appliance, "storage", "ls", "kept/", "--json")),
        pair: await listsByPair(appliance),
      },
      status: task.status,
      waiting: await waiting.states(),
    });
    progress(`  ${JSON.stringify(switches.at(-1))}`);
  }
  streams.end();
  await streaming;
  const from = Date.now();
  await appliance.upgrade(bundles.next.bundle);
  const nothing = (Date.now() - from) / 1_000;
  progress("the job to its end");
  const ended = await job.untilEnded(JOB_MS);
  const waited = await waiting.untilEnded(JOB_MS);
  await person.page.getByText("It finished, and its results are stored.").waitFor();
  await chat.remove(deployed);
  const report = await auditReport(
    appliance,
    installed.folder("audit"),
    Object.values(bundles).map(({ bundle }: BundleSummary) => join(bundle, "release.json")),
  );
  const inBand = streams.dropped.filter((text) => text.startsWith("a stream ended with"));
  return {
    switches,
    job: { state: ended.status, attempt: ended.detail.attempt, rounds: ROUNDS },
    waited,
    streams: {
      whole: streams.whole,
      ended_in_band: inBand.filter((text) => text.includes('"error"')).length,
      cut: inBand.filter((text) => !text.includes('"error"')).length,
      told_to_come_again: streams.dropped.length - inBand.length,
    },
    page: { caught_up: caughtUp },
    nothing_s: tenths(nothing),
    audit: verdictsOf(report),
    starts_compared: report.binaries.compared,
  };
}

/** By when they started: as they were submitted, and the one that follows another after its end. */
function isInOrder(waited: readonly WaitedJob[]): boolean {
  const [first, second, third] = waited;
  if (first === undefined || second === undefined || third === undefined) return false;
  return first.startedAt <= second.startedAt && first.endedAt <= third.startedAt;
}

/** How the store answers a listing by the user's own pair: `ok`, or its code. */
async function listsByPair(of: LocalAppliance): Promise<string> {
  const values = of.quickstart();
  using transport = new S3Transport({
    endpoint: values["RESON_S3_ENDPOINT"] ?? "",
    region: values["RESON_S3_REGION"] ?? "",
    ca: readFileSync(values["SSL_CERT_FILE"] ?? "", "utf8"),
    credentials: {
      accessKeyId: values["RESON_S3_ACCESS_KEY_ID"] ?? "",
      secretAccessKey: values["RESON_S3_SECRET_ACCESS_KEY"] ?? "",
    },
  });
  try {
    const page = { limit: 10, after: null };
    await new S3ObjectStore(transport).listFolder(values["RESON_S3_BUCKET"] ?? "", "", page);
    return "ok";
  } catch (error) {
    return error instanceof S3ResponseError ? error.code : String(error);
  }
}

/** The code with which a command of the shell ends; `none` where it is done. */
async function refusalOf(asked: Promise<string>): Promise<string> {
  try {
    await asked;
    return "none";
  } catch (error) {
    return /\b(role_conflict|[a-z]+_[a-z_]+)\b/.exec(String(error))?.[0] ?? String(error);
  }
}

/** Whether the page comes to show this round, or a later one, without being loaded again. */
async function roundOnPage({ page }: SignedInPerson, round: number): Promise<boolean> {
  for (const end = Date.now() + PAGE_MS; Date.now() < end; await sleep(250)) {
    const text = await page.locator("main").innerText();
    const [, shown] = /in round (\d+) of/.exec(text) ?? [];
    if ((shown !== undefined && Number(shown) >= round) || text.includes("It finished"))
      return true;
  }
  return false;
}

/** How much the store of blobs grows at most while a release is imported, against what is new of it. */
class DiskWatch {
  readonly #store: string;
  readonly #newBytes: number;
  readonly #before: number;
  readonly #over = new AbortController();
  #most = 0;
  #running: Promise<void> = Promise.resolve();

  private constructor(store: string, newBytes: number) {
    this.#store = store;
    this.#newBytes = newBytes;
    this.#before = bytesOf(store);
  }

  static async begin({ root }: LocalAppliance, bundle: string): Promise<DiskWatch> {
    const store = join(root, "blobs", "sha256");
    const listed = (folder: string) =>
      execFileSync("find", [folder, "-type", "f", "-printf", "%f %s\n"], {
        ...{ encoding: "utf8", maxBuffer: 64 * 1024 ** 2 },
      })
        .trim()
        .split("\n");
    const known = new Set(listed(store));
    const fresh = listed(join(bundle, "blobs", "sha256")).filter((line) => !known.has(line));
    const watch = new DiskWatch(
      store,
      fresh.reduce((sum, line) => sum + Number(line.split(" ")[1]), 0),
    );
    watch.#running = watch.#watch();
    return watch;
  }

  /** Null where nothing is new. */
  async end(): Promise<number | null> {
    this.#over.abort();
    await this.#running;
    return this.#newBytes === 0
      ? null
      : Math.round((1_000 * (this.#most - this.#before)) / this.#newBytes) / 1_000;
  }

  async #watch(): Promise<void> {
    do {
      this.#most = Math.max(this.#most, bytesOf(this.#store));
      await sleep(250);
    } while (!this.#over.signal.aborted);
    this.#most = Math.max(this.#most, bytesOf(this.#store));
  }
}

/** Of the files of a folder; one that goes meanwhile has none. */
function bytesOf(folder: string): number {
  return readdirSync(folder)
    .map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
}

/** Seconds of each step of the last run, by the journal. */
function lastPhases({ root }: LocalAppliance): Record<string, number> {
  const lines = readFileSync(join(root, "journal", "journal.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string; step: string; state: string; at: string });
  const last = lines.slice(lines.findLastIndex(({ kind }) => kind === "begin"));
  const from = new Map<string, number>();
  const took: Record<string, number> = {};
  for (const { kind, step, state, at } of last) {
    if (kind !== "step") continue;
    if (state === "started") from.set(step, Date.parse(at));
    else took[step] = tenths((Date.parse(at) - (from.get(step) ?? Date.parse(at))) / 1_000);
  }
  return took;
}

function tenths(value: number): number {
  return Math.round(10 * value) / 10;
}
