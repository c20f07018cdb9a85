/**
 * A real appliance on this machine, made the way a customer makes one: a bundle built from this tree, then its own `install.sh`.
 * Shared by `npm run try`, `npm test` and the proofs.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { isRootPath } from "@resontech/installer/root-path";
import { runChild } from "../run-child.ts";

export const repository = join(import.meta.dirname, "..", "..", "..");

/** What `airgap build --json` says in its last line. */
export type BundleSummary = {
  bundle: string;
  version: string;
  releaseDigest: string;
  bytes: number;
  parts: Record<string, number>;
  seconds: number;
  downloadSeconds: number;
};

/** Builds the bundle from this tree; a second build takes seconds, because every step is kept by the digest of its inputs. */
export async function buildOwnBundle({
  profile = "cpu",
}: {
  profile?: "cpu" | "cuda";
} = {}): Promise<BundleSummary> {
  const output = await runChild(
    process.execPath,
    [
      join(repository, "airgap", "src", "main.ts"),
      "build",
      "--out",
      join(repository, ".cache", profile === "cpu" ? "bundle" : `bundle-${profile}`),
      ...["--profile", profile],
      "--refresh-overlay",
      "--json",
    ],
    { cwd: repository },
  );
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  return JSON.parse(last) as BundleSummary;
}

/** One line of `KEY=value` from `data/credentials.txt`'s `[sdk quickstart]` block, by name. */
export type Quickstart = Readonly<Record<string, string>>;

/** The part of `appliance status --json` that is read here. */
export type ShownStatus = {
  parts: { name: string; phase: string; pid: number | null; restarts: number }[];
  findings: { severity: string; code: string; what: string; todo: string }[];
};

export type InstallOptions = {
  instance: string;
  root: string;
  /** Added to the default perimeter and loopback ports, so that two appliances can share a machine. */
  portOffset: number;
  cpuWorkers?: number;
  /** Where other machines reach it, and the name that they call it by. @default localhost at 127.0.0.1 */
  perimeter?: { name: string; address: string };
  /** Makes of a command one that runs on the appliance's host, where that is not this one; its files are here all the same. */
  enter?: Enter;
  /** @default the bundle's or the host's Podman */
  engine?: "docker";
};

export type Enter = (
  program: string,
  args: readonly string[],
) => [program: string, args: readonly string[]];

/** What a test runner would have every Node of the appliance load is not the appliance's: it would run as users who may not. */
const HERE: Enter = (program, args) => ["env", ["--unset=NODE_OPTIONS", program, ...args]];

const LOOPBACK = { name: "localhost", address: "127.0.0.1" };

/** As far as `appliance add-user` is read here. */
type AddedUser = {
  platformKey: string;
  accessKeyId: string;
  secretAccessKey: string;
  bucketAlias: string;
};

/** What install.sh is told on a developer's machine. */
export function installFlags({
  instance,
  root,
  portOffset,
  cpuWorkers,
  perimeter = LOOPBACK,
  engine,
}: InstallOptions): string[] {
  const ports = {
    api: 8000,
    s3: 3900,
    registry: 5000,
    nats: 4222,
    keycloak: 8443,
    "keycloak-management": 9000,
    postgres: 5433,
    prometheus: 9090,
  };
  const values = {
    root,
    instance,
    ...perimeter,
    // Below the ports that kernels give to clients.
    "job-ports": `${29_000 + portOffset / 10}-${29_099 + portOffset / 10}`,
    customer: "example",
    appliance: instance,
    node: `${instance}-node`,
    username: "researcher",
    "key-kind": "dev",
    ...(engine === undefined ? {} : { engine }),
    ...(cpuWorkers === undefined ? {} : { "cpu-workers": cpuWorkers }),
    ...Object.fromEntries(
      Object.entries(ports).map(([name, port]) => [`port-${name}`, port + portOffset]),
    ),
  };
  return [
    "--yes",
    ...Object.entries(values).flatMap(([name, value]) => [`--${name}`, String(value)]),
  ];
}

/**
 * A folder that an appliance can be installed in and its numeric users can reach: under the working tree, or the system's where a parent is
 * closed or the path has characters that no root may have.
 */
export function reachableRoot(preferred: string, fallback: string): string {
  if (!isRootPath(preferred)) return fallback;
  for (let dir = dirname(preferred); ; dir = dirname(dir)) {
    if (existsSync(dir) && (statSync(dir).mode & 0o001) === 0) return fallback;
    if (dir === dirname(dir)) return preferred;
  }
}

export class LocalAppliance {
  readonly root: string;
  readonly #enter: Enter;
  /** What enters its host, where its engine is the Docker there. */
  readonly dockerOf: Enter | null;

  readonly #user: AddedUser | null;

  private constructor(
    root: string,
    enter: Enter,
    engine?: InstallOptions["engine"],
    user: AddedUser | null = null,
  ) {
    this.root = root;
    this.#user = user;
    this.#enter = enter;
    this.dockerOf = engine === undefined ? null : enter;
  }

  /** An appliance that is installed below `root` already. */
  static at(root: string): LocalAppliance {
    return new LocalAppliance(root, HERE);
  }

  /** Makes a user, in whose name everything is done by what comes back. */
  async addUser(name: string): Promise<LocalAppliance> {
    const user = JSON.parse(await this.command(["add-user", name])) as AddedUser;
    return new LocalAppliance(
      this.root,
      this.#enter,
      this.dockerOf === null ? undefined : "docker",
      user,
    );
  }

  get instance(): string {
    const { instance } = JSON.parse(
      readFileSync(join(this.root, "etc", "appliance.json"), "utf8"),
    ) as { instance: string };
    return instance;
  }

  /** Docker-compatible socket of the appliance's own container engine. */
  get engineSocket(): string {
    return `/run/resontech/${this.instance}/podman/sock`;
  }

  /** Runs `install.sh` of the bundle; a second run on the same release changes nothing and takes seconds. */
  static async install(bundle: string, options: InstallOptions): Promise<LocalAppliance> {
    const enter = options.enter ?? HERE;
    await runChild(...enter("sh", [join(bundle, "install.sh"), ...installFlags(options)]));
    return new LocalAppliance(options.root, enter, options.engine);
  }

  /** Runs `install.sh` of another release's bundle. */
  async upgrade(bundle: string): Promise<void> {
    const words = [join(bundle, "install.sh"), "--root", this.root, "--yes"];
    await runChild(...this.#enter("sh", words), { quiet: true });
  }

  /** Runs the `appliance` command of the installed release and answers its standard output. */
  async command(args: readonly string[], quiet = true): Promise<string> {
    const command = join(this.root, "current", "bin", "appliance");
    return await runChild(...this.#enter(command, ["--root", this.root, ...args]), { quiet });
  }

  /** What `appliance status --json` says, of one that is not whole just now as well. */
  status(): ShownStatus {
    const command = join(this.root, "current", "bin", "appliance");
    const { stdout } = spawnSync(
      ...this.#enter(command, ["--root", this.root, "status", "--json"]),
      { encoding: "utf8" },
    );
    return JSON.parse(stdout) as ShownStatus;
  }

  /** The environment that the first user's quickstart sets; plain values, no shell quoting. */
  quickstart(): Quickstart {
    const text = readFileSync(join(this.root, "data", "credentials.txt"), "utf8");
    const block = text.slice(text.indexOf("[sdk quickstart]"), text.indexOf("[rclone]"));
    const values: Record<string, string> = {};
    for (const line of block.split("\n")) {
      const pair = /^(?:export )?([A-Z][A-Z0-9_]*)=(?:'([^']*)'|"([^"]*)"|(.*))$/.exec(line.trim());
      if (pair?.[1] !== undefined) values[pair[1]] = pair[2] ?? pair[3] ?? pair[4] ?? "";
    }
    if (this.#user === null) return values;
    const { platformKey, accessKeyId, secretAccessKey, bucketAlias } = this.#user;
    return {
      ...{ ...values, RESON_API_KEY: platformKey },
      ...{ RESON_S3_ACCESS_KEY_ID: accessKeyId, RESON_S3_SECRET_ACCESS_KEY: secretAccessKey },
      RESON_S3_BUCKET: bucketAlias,
    };
  }

  /** What ID tokens of its realm name as their issuer. */
  get issuer(): string {
    const { RESON_BASE_URL: url = "" } = this.quickstart();
    return `${new URL(url).origin}/realms/resontech`;
  }

  async uninstall(): Promise<void> {
    await this.command(["uninstall", "--yes"]);
  }
}

/** Tells whether the supervisor of the appliance under `root` answers. */
export function isRunning(root: string): boolean {
  const command = join(root, "current", "bin", "appliance");
  if (!existsSync(command)) return false;
  return spawnSync(command, ["--root", root, "status", "--json"], { stdio: "ignore" }).status === 0;
}

/** Says what a build cost, in the person's words. */
export function describeBundle(say: (line: string) => void, bundle: BundleSummary): void {
  say(
    `bundle ${bundle.version}: ${(bundle.bytes / 1e6).toFixed(0)} MB in ${bundle.seconds} s, of which ${bundle.downloadSeconds} s download`,
  );
}
