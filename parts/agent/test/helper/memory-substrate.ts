/**
 * A substrate without an engine, a mount or a firewall: what runs is an object that the test ends, and its files lie in a folder of the test.
 * It shows what the life of a member needs; how a real one behaves is in the tests of the engines.
 */
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { formatFence } from "@resontech/contracts/fence";
import type { Area, JobFile } from "../../src/substrate/area.ts";
import type {
  Enclosure,
  End,
  ImageRequest,
  Kept,
  Proof,
  Run,
  Work,
} from "../../src/substrate/enclosure.ts";
import { JOB_PATHS } from "../../src/substrate/job-paths.ts";
import type { FoundEnclosure, Substrate } from "../../src/substrate/substrate.ts";
import { EnclosureFailedError } from "../../src/substrate/substrate-errors.ts";

/** What runs, and outlives whoever started it. */
export class Cell {
  readonly found: FoundEnclosure;
  readonly attempt: string;
  readonly signals: string[] = [];
  /** Goes at once when it is asked to. */
  isObedient = true;
  ended: End | null = null;

  constructor(found: FoundEnclosure, attempt: string) {
    this.found = found;
    this.attempt = attempt;
  }

  end(exitCode: number, oomKilled = false): void {
    this.ended ??= { exitCode, oomKilled };
  }

  signal(what: "terminate" | "kill"): void {
    if (this.ended !== null) return;
    this.signals.push(what);
    if (what === "kill") this.end(137);
    else if (this.isObedient) this.end(143);
  }
}

export class MemorySubstrate implements Substrate {
  readonly hiddenPaths: readonly string[];
  readonly cells = new Map<string, Cell>();
  readonly networks = new Set<string>();
  /** What was asked of enclosures, in order. */
  readonly calls: string[] = [];
  /** A call of this name fails so. */
  readonly failures = new Map<string, Error>();
  /** What the next releases prove, before one proves all. */
  readonly proofs: Proof[] = [];
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    this.hiddenPaths = [root];
  }

  enclosure(work: Work, kept: Kept): Enclosure {
    return new MemoryEnclosure(this, work, kept);
  }

  async list(): Promise<FoundEnclosure[]> {
    return [...this.cells.values()].map(({ found }) => found);
  }

  async discard({ name }: FoundEnclosure): Promise<void> {
    this.cells.delete(name);
  }

  async discardArea(member: string): Promise<boolean> {
    rmSync(this.area(member).folder, { recursive: true, force: true });
    return true;
  }

  async discardNetwork(attempt: string): Promise<boolean> {
    if ([...this.cells.values()].some((cell) => cell.attempt === attempt)) return false;
    this.networks.delete(attempt);
    return true;
  }

  async keepNetworks(attempts: ReadonlySet<string>): Promise<void> {
    for (const attempt of this.networks) if (!attempts.has(attempt)) this.networks.delete(attempt);
  }

  async closeNetworks(): Promise<boolean> {
    return true;
  }

  area(member: string): MemoryArea {
    return new MemoryArea(join(this.#root, member));
  }

  /** What a job does: to files of its own world. */
  write(member: string, path: string, text: string): void {
    const file = this.area(member).inWorld(path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { flag: "a" });
  }

  tell(member: string, ...events: object[]): void {
    for (const event of events) this.write(member, JOB_PATHS.events, `${JSON.stringify(event)}\n`);
  }
}

class MemoryArea implements Area {
  readonly folder: string;
  readonly given: string[] = [];
  isFull = false;

  constructor(folder: string) {
    this.folder = folder;
  }

  inWorld(path: string): string {
    return join(this.folder, "world", path);
  }

  path(part: string, ...rest: string[]): string {
    return join(this.folder, "staged", part, ...rest);
  }

  async giveToJob(path: string): Promise<void> {
    this.given.push(relative(this.folder, path));
  }

  scratch(name: string): string {
    return join(this.folder, name);
  }

  freeBytes(): number {
    return Number.MAX_SAFE_INTEGER;
  }

  async open(path: string): Promise<JobFile | null> {
    const found = lstatSync(this.inWorld(path), { throwIfNoEntry: false });
    if (found?.isFile() !== true) return null;
    const fd = openSync(this.inWorld(path), "r");
    return { fd, sizeBytes: found.size, [Symbol.dispose]: () => closeSync(fd) };
  }

  async list(folder: string): Promise<{ path: string; sizeBytes: number }[]> {
    const place = this.inWorld(folder);
    if (!existsSync(place)) return [];
    return readdirSync(place).map((path) => ({
      path,
      sizeBytes: lstatSync(join(place, path)).size,
    }));
  }
}

class MemoryEnclosure implements Enclosure {
  readonly area: MemoryArea;
  kept: Kept;
  readonly #substrate: MemorySubstrate;
  readonly #work: Work;
  readonly #name: string;

  constructor(substrate: MemorySubstrate, work: Work, kept: Kept) {
    this.#substrate = substrate;
    this.#work = work;
    this.kept = kept;
    this.#name = `${work.member}/${formatFence(work.fence)}`;
    this.area = substrate.area(work.member);
  }

  get #cell(): Cell | null {
    return this.#substrate.cells.get(this.#name) ?? null;
  }

  reserve(others: readonly Kept[]): void {
    this.#note("reserve");
    this.kept = { place: this.kept["place"] ?? others.length + 1 };
  }

  async isMade(): Promise<boolean> {
    this.#note("isMade");
    return this.#cell !== null;
  }

  async claimDevices(): Promise<void> {
    this.#note("claimDevices");
  }

  async makeArea(): Promise<void> {
    this.#note("makeArea");
    for (const part of ["job", "model", "payload"])
      mkdirSync(this.area.path(part), { recursive: true });
  }

  async haveImage({ login }: ImageRequest): Promise<boolean> {
    this.#note("haveImage");
    await login();
    return true;
  }

  async makeNetwork(): Promise<void> {
    this.#note("makeNetwork");
    this.#substrate.networks.add(this.#work.attempt);
  }

  async connect(): Promise<void> {
    this.#note("connect");
  }

  async proveClosed(): Promise<void> {
    this.#note("proveClosed");
  }

  async start(): Promise<string> {
    this.#note("start");
    const { member, fence, attempt } = this.#work;
    const found = { name: this.#name, member, fence: formatFence(fence) };
    if (this.#cell === null) this.#substrate.cells.set(this.#name, new Cell(found, attempt));
    return this.#name;
  }

  async observe(): Promise<Run> {
    this.#note("observe");
    const cell = this.#cell;
    if (cell === null) throw new EnclosureFailedError("nothing is there");
    return {
      isRunning: () => cell.ended === null,
      usage: () => ({}),
      memoryBytes: () => null,
      end: async () => cell.ended ?? { exitCode: -1, oomKilled: false },
    };
  }

  async signal(what: "terminate" | "kill"): Promise<void> {
    this.#note(what);
    this.#cell?.signal(what);
  }

  async abort(): Promise<void> {
    this.#note("abort");
    this.#cell?.signal("kill");
  }

  async release(): Promise<Proof> {
    this.#note("release");
    const proof = this.#substrate.proofs.shift();
    if (proof !== undefined) return proof;
    this.#substrate.cells.delete(this.#name);
    await this.#substrate.discardArea(this.#work.member);
    await this.#substrate.discardNetwork(this.#work.attempt);
    return { processesGone: true, diskGone: true, devicesAtBaseline: true };
  }

  #note(call: string): void {
    this.#substrate.calls.push(call);
    const failure = this.#substrate.failures.get(call);
    if (failure !== undefined) throw failure;
  }
}
