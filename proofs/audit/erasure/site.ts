/** auditd, vault, audit-out and the coordinator's database in one folder, where all that they print lies, too; and a gate. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { connectProducer } from "@resontech/audit/producer";
import { addAuditOutProducer, AuditOutInstance } from "../instances/audit-out-instance.ts";
import {
  logDirOf,
  makeAuditdConfig,
  startAuditd,
  temporaryRoot,
} from "../instances/auditd-instance.ts";
import { addVaultProducer, VaultInstance } from "../instances/vault-instance.ts";
import {
  addCoordinatorProducer,
  CoordinatorDatabase,
} from "@resontech/coordinator/testing/coordinator-database";
import { compose, type Said } from "./said.ts";

const PROCESSES = ["auditd", "vault", "audit-out"];
const LAST_LINES = 5;
/** More than an appliance prints. */
const LOG_LEVEL = "trace";

export type Site = AsyncDisposable & {
  root: string;
  origin: string;
  /** It is not started. */
  vault: VaultInstance;
  out: AuditOutInstance;
  coordinator: CoordinatorDatabase;
  /** Says it to auditd. */
  say: (subject: string, isLong: boolean) => Promise<Said>;
  /** Leaves it to the coordinator's database. */
  record: (subject: string, isLong: boolean) => Promise<Said>;
  /** What opens commitments lies in auditd's folder, as it came. */
  isSpoolEmpty: () => boolean;
  /** Bytes that each process has printed. */
  printed: () => number[];
  lastPrinted: () => string[];
  /** Ends all that runs; the files stay until it is disposed of. */
  stop: () => Promise<void>;
};

export async function startSite(epochMs: number, epochLifeMs: number): Promise<Site> {
  const root = temporaryRoot();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => rmSync(root, { recursive: true, force: true }));
  const running = stack.use(new AsyncDisposableStack());
  mkdirSync(join(root, "printed"));
  const printsOf = (name: string): string => join(root, "printed", `${name}.log`);
  const config = { ...makeAuditdConfig(root), logLevel: LOG_LEVEL };
  addCoordinatorProducer(root, config);
  addAuditOutProducer(root, config);
  addVaultProducer(root, config);
  const vault = new VaultInstance(root, epochMs, epochLifeMs, {
    printsTo: printsOf("vault"),
    logLevel: LOG_LEVEL,
  });
  running.adopt(await startAuditd(root, config, printsOf("auditd")), ended);
  const gate = await connectProducer({
    socketPath: config.producers[0]!.socket,
    boot: crypto.randomUUID(),
  });
  running.defer(() => gate.close());
  const coordinator = running.use(await CoordinatorDatabase.open(root, gate));
  running.defer(() => vault.end());
  const { tokensSocket } = vault.config;
  const out = running.adopt(
    new AuditOutInstance(root, config, [], {
      tokensSocket,
      printsTo: printsOf("audit-out"),
      logLevel: LOG_LEVEL,
    }),
    (one) => one.end(),
  );
  const owned = stack.move();
  return {
    ...{ root, vault, out, coordinator },
    origin: `${config.originPrefix}/${config.inception.slice(0, 4)}`,
    async say(subject, isLong) {
      const { said, draft, disclosures } = compose(subject, isLong);
      await gate.fact(draft, disclosures);
      return said;
    },
    async record(subject, isLong) {
      const { said, draft, disclosures } = compose(subject, isLong);
      await coordinator.record(draft, disclosures);
      return said;
    },
    isSpoolEmpty: () => readdirSync(join(logDirOf(config), "disclosures")).length === 0,
    printed: () => PROCESSES.map((name) => statSync(printsOf(name)).size),
    lastPrinted: () =>
      PROCESSES.flatMap((name) => lastLines(printsOf(name)).map((line) => `${name}: ${line}`)),
    stop: () => running.disposeAsync(),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function lastLines(file: string): string[] {
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .slice(-LAST_LINES - 1, -1)
    : [];
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  await exited;
}
