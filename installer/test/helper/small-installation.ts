/** One installation of small releases, by the real installer, in a folder of its own. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import type { Test } from "tap";
import { hostState } from "@resontech/house/host-state";
import { type Ended, run } from "./cut-installs.ts";
import { APPLIANCE, flagsFor, readIfThere, type SmallRelease } from "./small-release.ts";

const PORTS_APART = 10;
let count = 0;

/** The appliance of a small release, which writes down what it was asked for. @param version said with each, where releases differ */
export function tellingAppliance(version: string): string {
  return APPLIANCE.replace("verb=$3\n", `verb=$3\necho "${version} $*" >>"$root/../told"\n`);
}

export class SmallInstallation implements AsyncDisposable {
  readonly instance: string;
  /** Holds the root, and what the test puts beside it. */
  readonly parent: string;
  readonly root: string;
  /** Of whatever runs next. */
  env: NodeJS.ProcessEnv = {};
  readonly #flags: readonly string[];

  /** @param name of the test @param firstPort see {@link flagsFor} */
  constructor(base: string, name: string, firstPort: number) {
    this.instance = `${name}-${process.pid}-${++count}`;
    this.parent = join(base, `place-${count}`);
    this.root = join(this.parent, "resontech");
    this.#flags = flagsFor(this.root, this.instance, firstPort + count * PORTS_APART);
    mkdirSync(this.parent);
  }

  async first({ bundle }: SmallRelease, t: Test, ...more: string[]): Promise<void> {
    const done = await this.#install(bundle, [...this.#flags, "--yes", ...more]);
    t.equal(done.status, 0, done.stderr);
    this.#forgetTold();
  }

  /** As an operator does it who has forgotten what he chose. */
  upgrade({ bundle }: SmallRelease, ...more: string[]): Promise<Ended> {
    this.#forgetTold();
    return this.#install(bundle, ["--root", this.root, "--yes", ...more]);
  }

  rollback(): Promise<Ended> {
    this.#forgetTold();
    return this.installer("rollback", "--yes");
  }

  /** As each start of the appliance runs it. */
  settle(): Promise<Ended> {
    return this.installer("settle");
  }

  /** The installer of the installed release. */
  installer(verb: string, ...more: string[]): Promise<Ended> {
    const current = join(this.root, "current");
    const words = [join(current, "app", "installer.mjs"), verb, ...more, "--root", this.root];
    return run(join(current, "bin", "node"), words, this.env);
  }

  /** @param point null: nothing is cut */
  cutAt(point: number | null): void {
    this.env = point === null ? {} : { RT_TEST_CRASH_AT: String(point) };
  }

  /** At how many points this can be cut. */
  async pointsOf(work: () => Promise<Ended>, t: Test): Promise<number> {
    const file = join(this.parent, "count");
    this.env = { RT_TEST_COUNT_FILE: file };
    const done = await work();
    this.env = {};
    t.equal(done.status, 0, done.stderr);
    return Number(readFileSync(file, "utf8"));
  }

  /** The version that runs. */
  get current(): string {
    return basename(readlinkSync(join(this.root, "current"))).split("-")[0] ?? "";
  }

  /** What the appliance was asked for since the last upgrade or rollback began. */
  get told(): string[] {
    return readIfThere(join(this.parent, "told"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replace(`--root ${this.root} `, ""));
  }

  /** The name of the staged folder of a version. */
  folderOf(version: string): string | undefined {
    return readdirSync(join(this.root, "releases")).find((name) => name.startsWith(`${version}-`));
  }

  config(): Record<string, unknown> {
    return JSON.parse(readFileSync(join(this.root, "etc", "appliance.json"), "utf8")) as Record<
      string,
      unknown
    >;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.env = {};
    const done = await this.installer("uninstall", "--yes");
    if (done.status !== 0 || existsSync(this.root)) throw new Error(done.stderr);
    const left = hostState(this.instance, this.root);
    if (left.length > 0) throw new Error(`left: ${left.join(", ")}`);
  }

  #install(bundle: string, flags: readonly string[]): Promise<Ended> {
    return run("sh", [join(bundle, "install.sh"), ...flags], this.env);
  }

  #forgetTold(): void {
    writeFileSync(join(this.parent, "told"), "");
  }
}
