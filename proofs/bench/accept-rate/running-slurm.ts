/** Real Slurm on this host, of Debian's packages: a controller that no node answers, so that what is submitted is accepted and waits. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "@resontech/house/free-port";

const run = promisify(execFile);

export class RunningSlurm implements AsyncDisposable {
  readonly #dir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];

  private constructor(dir: string) {
    this.#dir = dir;
    this.#env = { ...process.env, SLURM_CONF: join(dir, "slurm.conf") };
  }

  /** @param dir empty, of root alone @throws where the packages are missing, or it does not come up */
  static async start(dir: string): Promise<RunningSlurm> {
    const slurm = new RunningSlurm(dir);
    try {
      await slurm.#begin();
    } catch (error) {
      await slurm[Symbol.asyncDispose]();
      throw error;
    }
    return slurm;
  }

  async version(): Promise<string> {
    return (await run("sbatch", ["--version"], { env: this.#env })).stdout.trim();
  }

  /** Accepts one job that waits. */
  async submit(): Promise<void> {
    await run("sbatch", ["--quiet", "--output=/dev/null", "--chdir=/", "--wrap=true"], {
      env: this.#env,
    });
  }

  /** Jobs that it holds. */
  async count(): Promise<number> {
    const { stdout } = await run("squeue", ["--noheader", "--format=%i"], {
      ...{ env: this.#env, maxBuffer: 2 ** 26 },
    });
    return stdout.split("\n").filter((line) => line !== "").length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    }
  }

  async #begin(): Promise<void> {
    const file = (name: string) => join(this.#dir, name);
    mkdirSync(file("state"));
    writeFileSync(file("munge.key"), randomBytes(1_024), { mode: 0o400 });
    writeFileSync(
      file("slurm.conf"),
      [
        ...["ClusterName=proof", `SlurmctldHost=${hostname()}(127.0.0.1)`, "SlurmUser=root"],
        ...[`SlurmctldPort=${await freePort()}`, `StateSaveLocation=${file("state")}`],
        ...[`SlurmctldPidFile=${file("slurmctld.pid")}`, `SlurmctldLogFile=${file("log")}`],
        ...["AuthType=auth/munge", `AuthInfo=socket=${file("munge.socket")}`],
        ...["CryptoType=crypto/munge", "SelectType=select/cons_tres", "MaxJobCount=100000"],
        ...["ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none"],
        ...["SchedulerType=sched/backfill", "AccountingStorageType=accounting_storage/none"],
        ...["JobCompType=jobcomp/none", "ReturnToService=1"],
        "NodeName=nobody[1-8] NodeAddr=127.0.0.1 CPUs=8 State=UNKNOWN",
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        "",
      ].join("\n"),
    );
    chmodSync(this.#dir, 0o755);
    this.#children.push(
      spawn(
        "munged",
        [
          ...["--foreground", "--force", `--socket=${file("munge.socket")}`],
          ...[`--key-file=${file("munge.key")}`, `--pid-file=${file("munge.pid")}`],
          ...[`--log-file=${file("munge.log")}`, `--seed-file=${file("munge.seed")}`],
        ],
        { stdio: "ignore" },
      ),
      spawn("slurmctld", ["-D", "-c"], { env: this.#env, stdio: "ignore" }),
    );
    for (const deadline = Date.now() + 30_000; ; await sleep(200)) {
      const { stdout } = await run("scontrol", ["ping"], { env: this.#env }).catch(
        (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
      );
      if (stdout.includes("is UP")) return;
      if (Date.now() > deadline) throw new Error(`slurmctld does not answer: ${stdout}`);
    }
  }
}
