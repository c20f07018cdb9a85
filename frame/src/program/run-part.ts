/**
 * The frame of a process: `<part> --config FILE`. It reads the configuration by the part's schema, holds the part's folder, serves its sockets, and ends in
 * order at SIGTERM. What the process is for stands in the part alone.
 */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import closeWithGrace from "close-with-grace";
import { type Logger, pino } from "pino";
import type { TSchema } from "typebox";
import { EventLoopLag } from "../event-loop-lag.ts";
import { acquireInstanceLock } from "../instance-lock.ts";
import { logDestination } from "../log-destination.ts";
import type { Answer } from "../operations/operation.ts";
import { serve } from "../operations/serve.ts";
import { operationsOf, type OwnPart } from "../part/define-part.ts";
import type { ProcessConfig } from "../part/process-config.ts";
import { readProcessConfig } from "./read-process-config.ts";

/** Before the supervisor's SIGKILL, for the log's last line. */
const LAST_WORDS_MS = 1_000;
const USAGE = 2;

/** A part at work; disposed of once its sockets are closed. */
export type PartAtWork = AsyncDisposable & {
  /** Of each socket that serves operations: an answer to each that it is declared to serve. */
  answers: Readonly<Record<string, readonly Answer[]>>;
};

/** @property heldFd descriptor of the socket that the supervisor holds, bound and not listening; null where a test started the part without one */
export type Life<Config extends TSchema> = {
  config: ProcessConfig<Config>;
  log: Logger;
  heldFd: number | null;
  /** @throws TypeError where the part declares that it keeps nothing */
  dataDir: () => string;
};

/** How a process is, as `GET /healthz` of its sockets tells it. */
export type Health = {
  part: string;
  upMs: number;
  /** How late its event loop turned at worst, within the last one to two minutes. */
  lagMs: number;
  residentBytes: number;
};

/** Runs until it is told to end. A fault before it serves ends the process with 1, wrong arguments with 2. */
export function runPart<Config extends TSchema>(
  part: OwnPart<Config>,
  open: (life: Life<Config>) => Promise<PartAtWork>,
): void {
  start(part, open).catch((error: unknown) => {
    complain(part.name, error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    process.exit(1);
  });
}

async function start<Config extends TSchema>(
  part: OwnPart<Config>,
  open: Parameters<typeof runPart<Config>>[1],
): Promise<void> {
  const args = argumentsOf(part.name);
  if (args === null) return;
  const { file, heldFd } = args;
  process.umask(0o027);
  const config = readProcessConfig(part, file);
  const log = pino({ name: part.name, level: config.logLevel }, logDestination(1));
  const ends = new AsyncDisposableStack();
  try {
    if (config.dataDir !== null) ends.use(await held(config.dataDir, log));
    const lag = ends.use(new EventLoopLag());
    const atWork = ends.use(
      await open({ config, log, heldFd, dataDir: () => dataDirOf(part, config) }),
    );
    const health = (): Health => ({
      ...{ part: part.name, upMs: Math.round(performance.now()) },
      ...{ lagMs: lag.maxMs, residentBytes: process.memoryUsage.rss() },
    });
    for (const [name, answers] of Object.entries(answersOf(part, atWork)))
      ends.use(await serve({ path: config.sockets[name]!, answers, health, log }));
  } catch (error) {
    await ends.disposeAsync();
    throw error;
  }
  closeWithGrace(
    { delay: Math.max(0, part.stop.graceMs - LAST_WORDS_MS), logger: false },
    async ({ signal, err }) => {
      if (err === undefined) log.info({ signal }, "stopping");
      else log.fatal({ err }, "stopping after an error");
      await ends.disposeAsync();
    },
  );
  // Last: who reads this may send SIGTERM at once.
  log.info("listening");
}

/** Takes the lock. On a full disk there is none: people must hear of it, and the supervisor starts one at a time anyway. @throws AlreadyRunningError */
async function held(dataDir: string, log: Logger): Promise<Disposable | null> {
  try {
    return await acquireInstanceLock(dataDir);
  } catch (err) {
    if (!(err instanceof Error && "code" in err && err.code === "ENOSPC")) throw err;
    log.warn({ err }, "the disk is full: nothing keeps a second process from this folder");
    return null;
  }
}

function dataDirOf({ name }: { name: string }, { dataDir }: { dataDir: string | null }): string {
  if (dataDir === null) throw new TypeError(`${name} declares no data`);
  return dataDir;
}

/** Reads the program's command line; null when there is nothing to run, which was said. */
function argumentsOf(name: string): { file: string; heldFd: number | null } | null {
  const usage = `usage: ${name} --config FILE [--listen-fd NUMBER]\n`;
  let values: { config?: string; help?: boolean; "listen-fd"?: string };
  try {
    ({ values } = parseArgs({
      options: {
        config: { type: "string" },
        "listen-fd": { type: "string" },
        help: { type: "boolean" },
      },
    }));
  } catch (error) {
    complain(name, error instanceof Error ? error.message : String(error));
    values = {};
  }
  const fd = values["listen-fd"];
  if (values.help !== true && values.config !== undefined && /^\d+$/.test(fd ?? "0"))
    return { file: values.config, heldFd: fd === undefined ? null : Number(fd) };
  process.stdout.write(usage);
  process.exitCode = values.help === true ? 0 : USAGE;
  return null;
}

/** @throws TypeError when an operation is declared and not answered, or answered and not declared */
function answersOf(
  part: Pick<OwnPart, "name" | "sockets">,
  { answers }: PartAtWork,
): PartAtWork["answers"] {
  const told = (of: Record<string, readonly { name: string }[]>): string =>
    JSON.stringify(
      Object.entries(of)
        .map(([socket, operations]) => [socket, operations.map(({ name }) => name).toSorted()])
        .toSorted(([one], [other]) => String(one).localeCompare(String(other))),
    );
  const given = Object.fromEntries(
    Object.entries(answers).map(([socket, all]) => [socket, all.map((one) => one.operation)]),
  );
  const [declared, answered] = [told(operationsOf(part)), told(given)];
  if (declared !== answered)
    throw new TypeError(`${part.name} is declared to serve ${declared} and answers ${answered}`);
  return answers;
}

function complain(name: string, message: string): void {
  writeSync(2, `${name}: ${message}\n`);
}
