/**
 * Real Slurm on this host, of Debian's packages, with nodes of its own: several `slurmd`, each with as many processors as its node has devices, whatever the
 * host has. Fair-share and QOS live in `slurmdbd` alone, so MariaDB stands behind it.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "@resontech/house/free-port";

const run = promisify(execFile);
const TABLES = ["mysql_system_tables.sql", "mysql_system_tables_data.sql"].map((name) =>
  join("/usr/share/mysql", name),
);
/** What a part needs to come up, or to stop, on a busy host. */
const PATIENCE_MS = 60_000;

/** @property shares of fair-share @property guarantee of workers; 0: it borrows alone */
export type SlurmAccount = { id: string; shares: number; guarantee: number };
/** Who is guaranteed nothing, and makes way. */
const LENT = "lent";

export class EmulatedSlurm implements AsyncDisposable {
  readonly #dir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #children: ChildProcess[] = [];

  private constructor(dir: string) {
    this.#dir = dir;
    this.#env = { ...process.env, SLURM_CONF: join(dir, "slurm.conf") };
  }

  /**
   * @param dir empty, of root alone
   * @param halfLife of what accounts used, as Slurm writes it
   * @throws where the packages are missing, or it does not come up
   */
  static async start(
    dir: string,
    {
      nodes,
      devices,
      accounts,
      halfLife,
    }: { nodes: number; devices: number; accounts: readonly SlurmAccount[]; halfLife: string },
  ): Promise<EmulatedSlurm> {
    const slurm = new EmulatedSlurm(dir);
    try {
      await slurm.#startAccounting();
      await slurm.#writeConfig({ nodes, devices, halfLife });
      await slurm.#startDaemon("slurmdbd", ["-D"]);
      await slurm.#eventually("slurmdbd", async () => await slurm.#sacctmgr("list", "cluster"));
      await slurm.#setUp(accounts);
      await slurm.#startDaemon("slurmctld", ["-D", "-c"]);
      for (let n = 0; n < nodes; n += 1)
        await slurm.#startDaemon("slurmd", ["-D", "-N", nodeName(n)]);
      await slurm.#eventually("slurmd", async () => {
        const states = await slurm.#ask("sinfo", ["--noheader", "--Node", "--format=%t"]);
        if (lines(states).filter((state) => state === "idle").length < nodes)
          throw new Error(states);
      });
    } catch (error) {
      await slurm[Symbol.asyncDispose]();
      throw error;
    }
    return slurm;
  }

  async version(): Promise<string> {
    return (await this.#ask("sbatch", ["--version"])).trim();
  }

  /** @param script a file @param minutes that it states */
  async submit(
    {
      account,
      size,
      isSpread,
      minutes,
    }: {
      account: SlurmAccount;
      size: number;
      isSpread: boolean;
      minutes: number;
    },
    script: string,
    args: readonly string[],
  ): Promise<void> {
    await this.#ask("sbatch", [
      ...["--quiet", "--output=/dev/null", "--chdir=/", `--time=${minutes}`],
      ...[`--account=${account.id}`, `--qos=${account.guarantee > 0 ? account.id : LENT}`],
      ...[`--ntasks=${size}`, ...(isSpread ? [] : ["--nodes=1"]), script, ...args],
    ]);
  }

  /** Those that made way wait with the others from now on: by itself Slurm lets them wait for two minutes first, whatever is free. */
  async endDelays(): Promise<void> {
    const waiting = await this.#ask("squeue", ["--noheader", "--states=PD", "--format=%i %r"]);
    for (const line of lines(waiting)) {
      const [id, why] = line.split(" ");
      // It may be gone by now.
      if (why === "BeginTime")
        await this.#ask("scontrol", ["update", `jobid=${id}`, "StartTime=now"]).catch(() => null);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A job outlives its node's daemon.
    await this.#ask("scancel", ["--user=root"]).catch(() => null);
    await this.#eventually("the last job", async () => {
      if (lines(await this.#ask("squeue", ["--noheader"])).length > 0) throw new Error("jobs run");
    }).catch(() => null);
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      const isOver = await Promise.race([ended.then(() => true), sleep(PATIENCE_MS, false)]);
      if (!isOver) {
        child.kill("SIGKILL");
        await ended;
      }
    }
  }

  #file(name: string): string {
    return join(this.#dir, name);
  }

  async #ask(program: string, args: readonly string[]): Promise<string> {
    return (await run(program, args, { env: this.#env, maxBuffer: 2 ** 26 })).stdout;
  }

  async #sacctmgr(...args: readonly string[]): Promise<string> {
    return await this.#ask("sacctmgr", ["--immediate", "--noheader", ...args]);
  }

  async #eventually(what: string, isUp: () => Promise<unknown>): Promise<void> {
    for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(250)) {
      try {
        await isUp();
        return;
      } catch (error) {
        if (Date.now() > deadline) throw new Error(`${what} does not answer`, { cause: error });
      }
    }
  }

  /** The first error of a child that can't be started is told by whoever waits for it. */
  async #startDaemon(program: string, args: readonly string[]): Promise<void> {
    const child = spawn(program, args, { env: this.#env, stdio: "ignore" });
    this.#children.push(child);
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", reject);
    });
  }

  async #startAccounting(): Promise<void> {
    const [data, socket] = [this.#file("mysql"), this.#file("mysql.socket")];
    mkdirSync(data);
    const common = ["--no-defaults", "--user=root", `--datadir=${data}`];
    const bootstrap = run("mysqld", [...common, "--bootstrap"]);
    bootstrap.child.stdin!.end(
      ["CREATE DATABASE mysql;", "USE mysql;", ...TABLES.map((path) => readFileSync(path, "utf8"))]
        .map((text) => `${text}\n`)
        .join(""),
    );
    await bootstrap;
    const hosts = ["127.0.0.1", "localhost"].map((host) => `slurm@'${host}'`);
    const password = randomBytes(16).toString("hex");
    writeFileSync(
      this.#file("users.sql"),
      [
        "CREATE DATABASE slurm;",
        ...hosts.flatMap((who) => [
          `CREATE USER ${who} IDENTIFIED BY '${password}';`,
          `GRANT ALL ON slurm.* TO ${who};`,
        ]),
        "",
      ].join("\n"),
      { mode: 0o600 },
    );
    const port = await freePort();
    await this.#startDaemon("mysqld", [
      ...[...common, `--init-file=${this.#file("users.sql")}`, `--socket=${socket}`],
      ...["--bind-address=127.0.0.1", `--port=${port}`, `--pid-file=${this.#file("mysql.pid")}`],
      ...["--skip-log-bin", "--innodb-flush-log-at-trx-commit=0"],
    ]);
    await this.#eventually("mysqld", async () => {
      if (!existsSync(socket)) throw new Error("no socket");
    });
    writeFileSync(this.#file("munge.key"), randomBytes(1_024), { mode: 0o400 });
    chmodSync(this.#dir, 0o755);
    await this.#startDaemon("munged", [
      ...["--foreground", "--force", `--socket=${this.#file("munge.socket")}`],
      ...[`--key-file=${this.#file("munge.key")}`, `--pid-file=${this.#file("munge.pid")}`],
      ...[`--log-file=${this.#file("munge.log")}`, `--seed-file=${this.#file("munge.seed")}`],
    ]);
    this.#dbdPort = await freePort();
    writeFileSync(
      this.#file("slurmdbd.conf"),
      [
        ...[`DbdHost=${hostname()}`, "DbdAddr=127.0.0.1", `DbdPort=${this.#dbdPort}`],
        ...[
          "SlurmUser=root",
          "AuthType=auth/munge",
          `AuthInfo=socket=${this.#file("munge.socket")}`,
        ],
        ...["StorageType=accounting_storage/mysql", "StorageHost=127.0.0.1"],
        ...[`StoragePort=${port}`, "StorageUser=slurm", `StoragePass=${password}`],
        ...["StorageLoc=slurm", `LogFile=${this.#file("slurmdbd.log")}`],
        ...[`PidFile=${this.#file("slurmdbd.pid")}`, ""],
      ].join("\n"),
      { mode: 0o600 },
    );
  }

  #dbdPort = 0;

  async #writeConfig({
    nodes,
    devices,
    halfLife,
  }: {
    nodes: number;
    devices: number;
    halfLife: string;
  }): Promise<void> {
    const file = (name: string) => this.#file(name);
    mkdirSync(file("state"));
    const places: string[] = [];
    for (let n = 0; n < nodes; n += 1) {
      const name = nodeName(n);
      mkdirSync(file(`spool-${name}`));
      places.push(
        `NodeName=${name} NodeHostname=${hostname()} NodeAddr=127.0.0.1 Port=${await freePort()} CPUs=${devices} State=UNKNOWN`,
      );
    }
    writeFileSync(
      file("slurm.conf"),
      [
        ...["ClusterName=proof", `SlurmctldHost=${hostname()}(127.0.0.1)`, "SlurmUser=root"],
        ...[`SlurmctldPort=${await freePort()}`, `StateSaveLocation=${file("state")}`],
        ...[`SlurmdSpoolDir=${file("spool-%n")}`, `SlurmdPidFile=${file("slurmd-%n.pid")}`],
        ...[`SlurmdLogFile=${file("slurmd-%n.log")}`, `SlurmctldLogFile=${file("slurmctld.log")}`],
        `SlurmctldPidFile=${file("slurmctld.pid")}`,
        ...["AuthType=auth/munge", `AuthInfo=socket=${file("munge.socket")}`],
        ...[
          "CryptoType=crypto/munge",
          "SelectType=select/cons_tres",
          "SelectTypeParameters=CR_CPU",
        ],
        ...["ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none"],
        ...["SlurmdParameters=config_overrides", "ReturnToService=2", "KillWait=5"],
        ...["SchedulerType=sched/backfill", "MaxJobCount=100000", "JobCompType=jobcomp/none"],
        "SchedulerParameters=bf_interval=1,bf_resolution=1,bf_continue,sched_interval=1",
        ...["AccountingStorageType=accounting_storage/slurmdbd", "JobRequeue=1"],
        ...["AccountingStorageHost=127.0.0.1", `AccountingStoragePort=${this.#dbdPort}`],
        ...[
          `AccountingStoragePass=${file("munge.socket")}`,
          "JobAcctGatherType=jobacct_gather/none",
        ],
        ...[
          "AccountingStorageEnforce=associations,limits,qos",
          "PriorityType=priority/multifactor",
        ],
        ...[`PriorityDecayHalfLife=${halfLife}`, "PriorityCalcPeriod=1"],
        ...[
          "PriorityWeightQOS=1000000",
          "PriorityWeightFairshare=100000",
          "PriorityWeightAge=1000",
        ],
        ...["PreemptType=preempt/qos", "PreemptMode=REQUEUE", ...places],
        "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
        "",
      ].join("\n"),
    );
  }

  /** Within a guarantee a project takes back what others borrow. */
  async #setUp(accounts: readonly SlurmAccount[]): Promise<void> {
    await this.#sacctmgr("add", "cluster", "proof");
    await this.#sacctmgr("add", "qos", LENT);
    for (const { id, shares, guarantee } of accounts) {
      await this.#sacctmgr("add", "account", id, `fairshare=${shares}`);
      if (guarantee === 0) continue;
      await this.#sacctmgr("add", "qos", id, `preempt=${LENT}`, "priority=10");
      await this.#sacctmgr("modify", "qos", id, "set", `grptres=cpu=${guarantee}`);
    }
    const names = (of: readonly SlurmAccount[]) => of.map(({ id }) => id).join(",");
    const qos = names([
      { id: LENT, shares: 0, guarantee: 0 },
      ...accounts.filter((one) => one.guarantee > 0),
    ]);
    await this.#sacctmgr("add", "user", "root", `account=${names(accounts)}`, `qos=${qos}`);
  }
}

function nodeName(n: number): string {
  return `node${n + 1}`;
}

function lines(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}
