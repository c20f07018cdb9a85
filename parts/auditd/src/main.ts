/** `auditd [init] --config FILE`: the process that alone writes the audit log. */
import "./host/thread-pool.ts";
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import closeWithGrace from "close-with-grace";
import { logDestination } from "@resontech/frame/log-destination";
import { pino } from "pino";
import { Auditd } from "./auditd.ts";
import { loadConfig } from "./config.ts";
import { initLog } from "./init.ts";

const USAGE = `usage: auditd --config FILE         write the log; ends on SIGTERM
       auditd init --config FILE    make key, policy and empty log; safe to repeat; prints one JSON line
`;
const STOP_TIMEOUT_MS = 10_000;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { config: { type: "string" }, help: { type: "boolean" } },
  });
  const [verb, ...rest] = positionals;
  if (
    values.help === true ||
    values.config === undefined ||
    rest.length > 0 ||
    (verb !== undefined && verb !== "init")
  ) {
    process.stdout.write(USAGE);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  // Nothing that auditd makes is anybody's but its own and its group's.
  process.umask(0o027);
  const config = await loadConfig(values.config);
  if (verb === "init") {
    process.stdout.write(`${JSON.stringify(await initLog(config))}\n`);
    return;
  }
  const log = pino({ name: "auditd", level: config.logLevel }, logDestination(1));
  const onFatal = (error: unknown): never => {
    log.fatal({ err: error }, "auditd can't go on; nothing more is acknowledged");
    process.exit(1);
  };
  const auditd = await Auditd.start(config, log, onFatal);
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ err }) => {
    if (err !== undefined) onFatal(err);
    await auditd[Symbol.asyncDispose]();
    log.info("stopped");
  });
  // Last: who reads this may send SIGTERM at once.
  log.info(auditd.status(), "listening");
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `auditd: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
