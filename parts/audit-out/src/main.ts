/** `audit-out --config FILE`: hands the log's entries on, and answers searches. It reads the log's folder and never writes there. */
import { writeSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import closeWithGrace from "close-with-grace";
import { logDestination } from "@resontech/frame/log-destination";
import { pino } from "pino";
import { openAuditOut } from "./audit-out.ts";
import { loadConfig } from "./config.ts";
import { rebuildMark } from "./search/indexer.ts";

const USAGE = `usage: audit-out --config FILE                  export and search; ends on SIGTERM
       audit-out index rebuild --config FILE    make the search index anew: now where audit-out runs, else when it starts
`;
const STOP_TIMEOUT_MS = 15_000;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { config: { type: "string" }, help: { type: "boolean" } },
  });
  const request = requestOf(positionals);
  if (values.help === true || values.config === undefined || request === null) {
    process.stdout.write(USAGE);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  process.umask(0o027);
  const config = await loadConfig(values.config);
  if (request === "rebuild") {
    await writeFile(rebuildMark(config.stateDir), "");
    return;
  }
  const log = pino({ name: "audit-out", level: config.logLevel }, logDestination(1));
  const auditOut = await openAuditOut(config, log);
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ signal, err }) => {
    if (err !== undefined) log.fatal({ err }, "stopping after an error");
    else log.info({ signal }, "stopping");
    await auditOut[Symbol.asyncDispose]();
  });
  // Last: who reads this may send SIGTERM at once.
  log.info({ sinks: config.sinks.map(({ name }) => name) }, "listening");
}

/** Reads what the words ask for; null for what is no command. */
function requestOf(positionals: readonly string[]): "run" | "rebuild" | null {
  if (positionals.length === 0) return "run";
  return positionals.join(" ") === "index rebuild" ? "rebuild" : null;
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `audit-out: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
