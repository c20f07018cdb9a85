import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import type { Test } from "tap";
import { until } from "./until.ts";
import { freePorts } from "@resontech/house/free-port";

export const PCR = 7;
const ONE = "1".repeat(64);

/** A TPM in software, of the test's own. */
export class SoftTpm {
  readonly device: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#child = child;
    this.device = `swtpm:host=127.0.0.1,port=${port}`;
  }

  static async start(t: Test, folder: string): Promise<SoftTpm> {
    mkdirSync(folder);
    const port = (await freePorts(2)).from;
    const child = spawn(
      "swtpm",
      [
        ...[
          "socket",
          "--tpm2",
          "--tpmstate",
          `dir=${folder}`,
          "--flags",
          "not-need-init,startup-clear",
        ],
        ...["--server", `type=tcp,port=${port}`, "--ctrl", `type=tcp,port=${port + 1}`],
      ],
      { stdio: "ignore" },
    );
    const tpm = new SoftTpm(child, port);
    t.teardown(() => tpm.stop());
    await until(() => {
      try {
        tpm.boot(ONE);
        return true;
      } catch {
        return false;
      }
    });
    return tpm;
  }

  /** Another program has been measured. */
  boot(digest: string): void {
    this.#command("tpm2_pcrextend", `${PCR}:sha256=${digest}`);
  }

  /** What a kernel's resource manager does when somebody leaves; a TPM has room for three sessions. */
  flush(): void {
    for (const what of ["--transient-object", "--loaded-session", "--saved-session"])
      this.#command("tpm2_flushcontext", what);
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  #command(name: string, ...args: string[]): void {
    execFileSync(name, args, {
      env: { ...process.env, TPM2TOOLS_TCTI: this.device },
      stdio: "ignore",
    });
  }
}
