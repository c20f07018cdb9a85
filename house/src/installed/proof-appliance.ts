/** An appliance of its own for one proof: built from this tree, installed as a customer would, removed at the end whatever happens. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  buildOwnBundle,
  type BundleSummary,
  type InstallOptions,
  LocalAppliance,
  reachableRoot,
  repository,
} from "./local-appliance.ts";
import { Workstation } from "./workstation.ts";

/** Two proofs at once would share one root; the installer's own lock refuses the second. */
const OPTIONS = {
  instance: "proof",
  root: reachableRoot(join(repository, ".cache", "proof-appliance"), "/var/lib/resontech-proof"),
  portOffset: 12_000,
  cpuWorkers: 2,
} as const;
/** Of a proof that compares two. */
const SECOND = {
  instance: "proof-2",
  root: reachableRoot(
    join(repository, ".cache", "proof-appliance-2"),
    "/var/lib/resontech-proof-2",
  ),
  portOffset: 14_100,
} as const;

export class ProofAppliance implements AsyncDisposable {
  readonly appliance: LocalAppliance;
  readonly bundle: BundleSummary;
  /** Wall time of `install.sh`, on a machine that has the bundle. */
  readonly installSeconds: number;
  readonly #work: string;

  private constructor(appliance: LocalAppliance, bundle: BundleSummary, installSeconds: number) {
    this.appliance = appliance;
    this.bundle = bundle;
    this.installSeconds = installSeconds;
    this.#work = mkdtempSync(join(repository, ".cache", "proof-"));
    chmodSync(this.#work, 0o755);
  }

  /**
   * @param built a bundle of this tree, when it is there already
   * @param change what this proof needs otherwise
   */
  static async install(
    progress: (line: string) => void,
    built?: BundleSummary,
    {
      second = false,
      ...change
    }: Partial<Pick<InstallOptions, "perimeter" | "cpuWorkers" | "enter" | "engine">> & {
      second?: boolean;
    } = {},
  ): Promise<ProofAppliance> {
    const options = { ...OPTIONS, ...(second ? SECOND : {}), ...change };
    mkdirSync(join(repository, ".cache"), { recursive: true });
    if (built === undefined) progress("building the bundle");
    const bundle = built ?? (await buildOwnBundle());
    if (existsSync(join(options.root, "journal"))) {
      progress("removing what an earlier run left");
      await (await LocalAppliance.install(bundle.bundle, options)).uninstall();
    }
    progress(`installing below ${options.root}`);
    const from = Date.now();
    const appliance = await LocalAppliance.install(bundle.bundle, options);
    return new ProofAppliance(appliance, bundle, (Date.now() - from) / 1000);
  }

  /** A new empty folder that containers may enter. */
  folder(name: string): string {
    const folder = join(this.#work, name);
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    return folder;
  }

  /** A workstation with the digits' shards in its `/work/shards`. @param example folder of scripts that it sees as `/example` */
  async workstation(name: string, example?: string): Promise<Workstation> {
    const folder = this.folder(name);
    const digits = await Workstation.open(this.appliance, folder);
    await digits.python(["/example/make_shards.py", "--out", "/work"]);
    return example === undefined ? digits : await Workstation.open(this.appliance, folder, example);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      rmSync(this.#work, { recursive: true, force: true });
    } finally {
      await this.appliance.uninstall();
    }
  }
}
