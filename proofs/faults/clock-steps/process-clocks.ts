/**
 * The wall clocks of an appliance's own processes, set at will: each runs with Debian's libfaketime preloaded, which adds what a file says to
 * what they are told of the real time. Clocks that count since boot stay as they are, as they do when somebody sets a host's clock.
 *
 * Not reached, because they are no dynamic programs of ours: NATS, the S3 engine, the registry, whatever runs in containers (Keycloak, PostgreSQL,
 * jobs and their PID 1). They keep the true time.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { LocalAppliance } from "@resontech/house/local-appliance";

const LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";
/** Of the host, not a package. */
const APT_GET = "apt-get";
/** How often a process looks at its file. */
const CACHE_S = 1;

export type OwnProcess = "coordinator" | "auditd" | "s3-front" | "agent" | "appliance";

export class ProcessClocks {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Puts a starter in the place of the release's Node; what starts from then on has a clock that can be set.
   * @param folder an empty folder that every user of the appliance can enter
   */
  static under(appliance: LocalAppliance, folder: string): ProcessClocks {
    if (!existsSync(LIBRARY)) {
      execFileSync(APT_GET, ["-qq", "update"]);
      execFileSync(APT_GET, ["-qq", "install", "-y", "--no-install-recommends", "libfaketime"]);
    }
    const library = join(folder, "libfaketime.so");
    copyFileSync(LIBRARY, library);
    chmodSync(library, 0o755);
    const node = join(realpathSync(join(appliance.root, "current")), "bin", "node");
    const starter = `#!/bin/sh
process=appliance
for argument in "$@"; do
  case $argument in */app/*.mjs) process=\${argument##*/}; process=\${process%.mjs} ;; esac
done
export LD_PRELOAD='${library}' FAKETIME_TIMESTAMP_FILE='${folder}'/"$process" FAKETIME_CACHE_DURATION=${CACHE_S} FAKETIME_DONT_FAKE_MONOTONIC=1 NO_FAKE_STAT=1
exec '${node}.real' "$@"
`;
    const clocks = new ProcessClocks(folder);
    clocks.set(["coordinator", "auditd", "s3-front", "agent", "appliance"], 0);
    writeFileSync(`${node}.starter`, starter, { mode: 0o755 });
    // Renamed, not overwritten: the file may be one with the store's blob.
    renameSync(node, `${node}.real`);
    renameSync(`${node}.starter`, node);
    return clocks;
  }

  /** From now on, within a second: the true time and so much. */
  set(processes: readonly OwnProcess[], offsetS: number): void {
    for (const name of processes) {
      const file = join(this.#folder, name);
      writeFileSync(`${file}.next`, `${offsetS < 0 ? "" : "+"}${offsetS}\n`, { mode: 0o644 });
      renameSync(`${file}.next`, file);
    }
  }
}
