/** `notifier --config FILE`: takes alerts and ends of jobs to people. */
import { readFileSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { NotifierConfig } from "@resontech/contracts/notifier-config";
import { logDestination } from "@resontech/frame/log-destination";
import closeWithGrace from "close-with-grace";
import { pino } from "pino";
import { Value } from "typebox/value";
import { openNotifier } from "./open-notifier.ts";

const STOP_TIMEOUT_MS = 25_000;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { config: { type: "string" } } });
  if (values.config === undefined) throw new TypeError("usage: notifier --config FILE");
  process.umask(0o027);
  const config = readConfig(values.config);
  const log = pino({ name: "notifier", level: config.logLevel }, logDestination(1));
  const notifier = await openNotifier(config, log);
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ signal, err }) => {
    if (err !== undefined) log.fatal({ err }, "stopping after an error");
    else log.info({ signal }, "stopping");
    await notifier[Symbol.asyncDispose]();
  });
  // Last: who reads this may send SIGTERM at once.
  log.info("listening");
}

function readConfig(file: string): NotifierConfig {
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  const [fault] = Value.Errors(NotifierConfig, value);
  if (fault !== undefined) throw new Error(`${file}: ${fault.instancePath} ${fault.message}`);
  return value as NotifierConfig;
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `notifier: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
