/** The root file system of another distribution at its smallest, entered as a host is: nothing of this machine but kernel, processes and the medium. */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A Debian package that has an archive's keys. */
type Keyring = { url: string; sha256: string; path: string };

export type Distribution = {
  name: string;
  suite: string;
  mirror: string;
  /** Null: this machine has the archive's keys. */
  keyring: Keyring | null;
  /** Beside what the distribution itself can't do without. */
  packages: readonly string[];
};

const DEBIAN = { mirror: "http://deb.debian.org/debian", keyring: null };
const UBUNTU = {
  mirror: "http://archive.ubuntu.com/ubuntu",
  keyring: {
    url: "http://deb.debian.org/debian/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1-0.2_all.deb",
    sha256: "b2e7ed48431bf9e7978ae810bbdaf253093570d6e3f864e575b7c13554b81174",
    path: "usr/share/keyrings/ubuntu-archive-keyring.gpg",
  },
};
/** Two have OpenSSL 1.1.1, one has 3, two have none. What Ubuntu calls minimal has no C++ library, which install.sh says. */
export const DISTRIBUTIONS: readonly Distribution[] = [
  { name: "Debian 11", suite: "bullseye", ...DEBIAN, packages: ["openssl"] },
  { name: "Debian 12", suite: "bookworm", ...DEBIAN, packages: [] },
  { name: "Debian 13", suite: "trixie", ...DEBIAN, packages: [] },
  {
    ...{ name: "Debian 13 with Docker", suite: "trixie", ...DEBIAN },
    packages: ["docker.io", "docker-cli", "iptables"],
  },
  { name: "Ubuntu 20.04", suite: "focal", ...UBUNTU, packages: ["openssl", "libstdc++6"] },
  { name: "Ubuntu 24.04", suite: "noble", ...UBUNTU, packages: ["openssl", "libstdc++6"] },
];

export type Ended = { status: number | null; stdout: string; stderr: string };

/** `$1` root, `$2` folder of the medium, then the command; mounts end with the namespace. */
const ENTER = `
mount --bind "$2" "$1/medium"
mount -o remount,bind,ro "$1/medium"
mount -t proc proc "$1/proc"
root=$1
shift 2
exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"
`;

export class MinimalHost implements Disposable {
  readonly #base: string;
  readonly #root: string;

  /** Folder of this machine that is its root. */
  get root(): string {
    return this.#root;
  }

  private constructor() {
    this.#base = mkdtempSync(join(tmpdir(), "rt-host-"));
    this.#root = join(this.#base, "root");
  }

  /** Takes a minute or two: its packages are fetched and unpacked. */
  static async make({ suite, mirror, keyring, packages }: Distribution): Promise<MinimalHost> {
    const host = new MinimalHost();
    const keys = keyring === null ? [] : [`--keyring=${await host.#fetchKeys(keyring)}`];
    const include = packages.length === 0 ? [] : [`--include=${packages.join(",")}`];
    const args = [
      "--variant=minbase",
      "--mode=root",
      "--quiet",
      ...keys,
      ...include,
      suite,
      host.#root,
      mirror,
    ];
    // In a mount namespace of its own: what it mounts in the root is gone with it, however it ends.
    execFileSync("unshare", ["--mount", "mmdebstrap", ...args], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    mkdirSync(join(host.#root, "medium"));
    return host;
  }

  /** @param medium folder of this machine, which it sees read-only as /medium */
  run(medium: string, command: readonly string[]): Ended {
    const args = [
      "--mount",
      "--pid",
      "--fork",
      "--uts",
      "--ipc",
      "--net",
      "sh",
      "-euc",
      ENTER,
      "enter",
      this.#root,
      medium,
      ...command,
    ];
    return spawnSync("unshare", args, { encoding: "utf8" });
  }

  [Symbol.dispose](): void {
    rmSync(this.#base, { recursive: true, force: true });
  }

  /** @throws Error when it is not the pinned package */
  async #fetchKeys({ url, sha256, path }: Keyring): Promise<string> {
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    const found = createHash("sha256").update(bytes).digest("hex");
    if (found !== sha256) throw new Error(`${url} has SHA-256 ${found}, not ${sha256}`);
    const folder = join(this.#base, "keys");
    mkdirSync(folder);
    writeFileSync(join(folder, "keys.deb"), bytes);
    execFileSync("dpkg-deb", ["--extract", join(folder, "keys.deb"), folder]);
    return join(folder, path);
  }
}
