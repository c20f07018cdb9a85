/**
 * Installs that are cut, as by a power cut, where something has just become durable: the same command must go on, and end where an unbroken
 * one ends; an uninstall then leaves nothing. The points are the installer's own fsyncs and renames (crash-point.ts), in order from 1.
 */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { hostState } from "@resontech/house/host-state";
import { listing } from "./listing.ts";
import { flagsFor, makeSmallRelease, readIfThere } from "./small-release.ts";

// Times and process ids differ; which lines there are depends on where it was broken off.
const IGNORED = /^(journal\/journal\.jsonl|data)$/;
const FIRST_PORT = 24_000;
const PORTS_APART = 10;

export type Ended = { status: number; stderr: string };
/** What was not as it should be after a cut at `point`; empty when all was. */
export type CutOutcome = { point: number; faults: string[] };

export function run(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      command,
      args,
      { encoding: "utf8", env: { ...process.env, ...env } },
      (_, __, stderr) => resolve({ status: child.exitCode ?? -1, stderr }),
    );
  });
}

/** A place to install in. There are two, and both are installed in at the same time. */
export class Place {
  readonly instance: string;
  readonly parent: string;
  readonly root: string;
  readonly #bundle: string;
  readonly #firstPort: number;
  readonly #before: { files: string[]; host: string[] };

  constructor(base: string, bundle: string, number: number) {
    this.instance = `crash-${process.pid}-${number}`;
    this.parent = join(base, `place-${number}`);
    this.root = join(this.parent, "made", "resontech");
    this.#bundle = bundle;
    this.#firstPort = FIRST_PORT + number * PORTS_APART;
    mkdirSync(this.parent);
    this.#before = { files: listing(this.parent), host: hostState(this.instance, this.root) };
  }

  install(env: NodeJS.ProcessEnv = {}): Promise<Ended> {
    const flags = flagsFor(this.root, this.instance, this.#firstPort);
    return run("sh", [join(this.#bundle, "install.sh"), ...flags, "--yes"], env);
  }

  uninstall(): Promise<Ended> {
    const current = join(this.root, "current");
    return run(join(current, "bin", "node"), [
      join(current, "app", "installer.mjs"),
      "uninstall",
      "--root",
      this.root,
      "--yes",
    ]);
  }

  installed(): string[] {
    return listing(this.root, IGNORED);
  }

  host(): string[] {
    return hostState(this.instance, this.root);
  }

  /** What is there now and was not before the first install, or the other way round. */
  changes(): string[] {
    const now = [...listing(this.parent), ...this.host()];
    const before = [...this.#before.files, ...this.#before.host];
    return [
      ...now.filter((line) => !before.includes(line)),
      ...before.filter((line) => !now.includes(line)),
    ];
  }
}

export type Unbroken = { place: Place; ended: Ended; expected: string[] };

/** Two installs that nobody cuts, at the same time, and how many points an install has. `base` is an empty folder. */
export async function installUnbroken(
  base: string,
): Promise<{ unbroken: Unbroken[]; points: number }> {
  const { bundle } = makeSmallRelease(base);
  const countFile = join(base, "count");
  const unbroken = await Promise.all(
    [0, 1].map(async (number) => {
      const place = new Place(base, bundle, number);
      const ended = await place.install(number === 0 ? { RT_TEST_COUNT_FILE: countFile } : {});
      return { place, ended, expected: ended.status === 0 ? place.installed() : [] };
    }),
  );
  return { unbroken, points: Number(readIfThere(countFile)) };
}

/** Cuts an install at each of the points, in both places side by side. Both must be uninstalled. */
export async function cutAtEach(
  unbroken: readonly Unbroken[],
  points: readonly number[],
  onDone: (outcome: CutOutcome) => void = () => undefined,
): Promise<CutOutcome[]> {
  const queue = points.values();
  const outcomes = await Promise.all(
    unbroken.map(async ({ place, expected }) => {
      const mine: CutOutcome[] = [];
      for (const point of queue) {
        const outcome = { point, faults: await cutAt(place, expected, point) };
        mine.push(outcome);
        onDone(outcome);
      }
      return mine;
    }),
  );
  return outcomes.flat();
}

async function cutAt(place: Place, expected: readonly string[], point: number): Promise<string[]> {
  const faults: string[] = [];
  const cut = await place.install({ RT_TEST_CRASH_AT: String(point) });
  if (cut.status === 0) faults.push("it was not cut");
  const again = await place.install();
  if (again.status !== 0)
    faults.push(`the same command ended with ${again.status}: ${again.stderr}`);
  const [is, shouldBe] = [new Set(place.installed()), new Set(expected)];
  faults.push(
    ...[...is]
      .filter((line) => !shouldBe.has(line))
      .map((line) => `not in an unbroken install: ${line}`),
  );
  faults.push(
    ...[...shouldBe]
      .filter((line) => !is.has(line))
      .map((line) => `only in an unbroken install: ${line}`),
  );
  const gone = await place.uninstall();
  if (gone.status !== 0) faults.push(`the uninstall ended with ${gone.status}: ${gone.stderr}`);
  faults.push(...place.changes().map((line) => `after the uninstall: ${line}`));
  return faults;
}
