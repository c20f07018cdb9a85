import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Enter } from "@resontech/house/local-appliance";

/**
 * `$1` the root, then folders that are seen at the same path as here. /run/resontech is, too: the proof reads there from outside. `pivot_root`, because runc can't make the root of a plain chroot private.
 */
const SETTLE = `
mount --make-rprivate /
mount --bind "$1" "$1"
mkdir -p "$1/.old" /run/resontech
root=$1
shift
for folder in "$@"; do
  mkdir -p "$root$folder"
  mount --bind "$folder" "$root$folder"
done
set -- "$root"
mount --rbind /sys "$1/sys"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount -t tmpfs tmpfs "$1/run"
mkdir "$1/run/resontech"
mount --bind /run/resontech "$1/run/resontech"
cd "$1"
pivot_root . .old
umount --lazy /.old
echo settled
exec sleep infinity
`;
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

/** A root file system that runs as a host does: its mounts last until it is disposed of. Network and processes are the caller's. */
export class LiveHost implements AsyncDisposable {
  readonly #keeper: ChildProcess;
  readonly #shared: readonly string[];

  private constructor(keeper: ChildProcess, shared: readonly string[]) {
    this.#keeper = keeper;
    this.#shared = shared;
  }

  /** @param shared folders of this machine that it sees at the same path */
  static async start(root: string, shared: readonly string[]): Promise<LiveHost> {
    mkdirSync(join(root, "etc"), { recursive: true });
    // What every host has, and a bare root has not.
    writeFileSync(join(root, "etc", "hosts"), "127.0.0.1 localhost\n");
    const keeper = spawn(
      "unshare",
      ["--mount", "--propagation=private", "sh", "-euc", SETTLE, "settle", root, ...shared],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const host = new LiveHost(keeper, shared);
    await Promise.race([
      once(keeper.stdout, "data"),
      once(keeper, "exit").then(() => {
        throw new Error(`${root} could not be entered`);
      }),
    ]);
    return host;
  }

  readonly enter: Enter = (program, args) => [
    "nsenter",
    [
      `--target=${this.#keeper.pid}`,
      ...["--mount", "--root"],
      ...["env", "-i", "-C", "/", `PATH=${PATH}`, "HOME=/root", program, ...args],
    ],
  ];

  /** Every path that it has but those of kernel and devices. */
  listing(): string[] {
    // What lies deeper in the shared folders changes as the machine around it works. They are of the root's own device.
    const notShared = this.#shared.flatMap((folder) => ["-path", folder, "-prune", "-o"]);
    const searches = [
      ["/", "/run", "-xdev", ...notShared, "-print"],
      [...this.#shared, "-maxdepth", "1"],
    ];
    return searches
      .flatMap((search) =>
        execFileSync(...mutable(this.enter("find", search)), {
          encoding: "utf8",
          maxBuffer: 256 * 1024 ** 2,
        }).split("\n"),
      )
      .sort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#keeper.exitCode !== null) return;
    this.#keeper.kill("SIGKILL");
    await once(this.#keeper, "exit");
  }
}

function mutable([program, args]: ReturnType<Enter>): [program: string, args: string[]] {
  return [program, [...args]];
}
