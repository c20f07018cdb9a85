/**
 * A folder like `app/` of a release, in which some programs are this tree's: programs look for their packages and threads beside themselves.
 * It lies in the system's folder for temporary files, because users of parts may not search the folders above a clone.
 */
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyShipped } from "@resontech/airgap/programs";

/** Rules that belong to the code that asks them, so they come from this tree as well. */
const OF_THIS_TREE = "policies";

export class ProgramFolder implements Disposable {
  readonly #folder: string;
  readonly app: string;
  /** A Node that listens for an inspector, for whoever starts it by name. */
  readonly node: string;

  /**
   * @param installed `current` of the appliance
   * @param programs file names that are made here
   */
  constructor(installed: string, programs: readonly string[], inspect: number) {
    this.#folder = mkdtempSync(join(tmpdir(), "resontech-dev-"));
    this.app = join(this.#folder, "app");
    this.node = join(this.#folder, "node");
    mkdirSync(this.app);
    for (const name of readdirSync(join(installed, "app")))
      if (!programs.includes(name) && name !== OF_THIS_TREE)
        symlinkSync(join(installed, "app", name), join(this.app, name));
    const node = join(installed, "bin", "node");
    // In the environment the option would reach what the part starts, and each of those needs the port for itself.
    const words = `--inspect=127.0.0.1:${inspect} --enable-source-maps`;
    writeFileSync(this.node, `#!/bin/sh\nexec '${node}' ${words} "$@"\n`);
    this.refresh();
  }

  /** Before each start: rules as they are now, and everything to be read by users of parts. */
  refresh(): void {
    rmSync(join(this.app, OF_THIS_TREE), { recursive: true, force: true });
    copyShipped(`app/${OF_THIS_TREE}`, this.#folder);
    chmodSync(this.#folder, 0o755);
    chmodSync(this.node, 0o755);
    openToRead(this.app);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** What is linked is the release's, and stays as it is. */
function openToRead(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) openToRead(path);
    else if (entry.isFile()) chmodSync(path, 0o644);
  }
}
