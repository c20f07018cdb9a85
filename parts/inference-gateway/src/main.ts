/** `serving --config FILE`: the inference gateway behind the front door. */
import { readFileSync, writeSync } from "node:fs";
import { parseArgs } from "node:util";
import closeWithGrace from "close-with-grace";
import { reader } from "@resontech/contracts/readable";
import { ServingConfig } from "@resontech/contracts/serving-config";
import { logDestination } from "@resontech/frame/log-destination";
import { pino } from "pino";
import { openServing } from "./open-serving.ts";

const USAGE = "usage: serving --config FILE [--listen-fd NUMBER]\n";
/** Calls that are under way end. */
const STOP_TIMEOUT_MS = 14_000;
const readConfig = reader(ServingConfig);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      config: { type: "string" },
      // Of a socket that is bound already, and stays when this process ends.
      "listen-fd": { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help === true || values.config === undefined) {
    process.stdout.write(USAGE);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  const config = readConfig(JSON.parse(readFileSync(values.config, "utf8")));
  if (config === null) throw new Error(`${values.config} is no configuration of this program`);
  const log = pino({ name: "serving", level: config.logLevel }, logDestination(1));
  const fd = values["listen-fd"];
  const serving = await openServing(config, log, fd === undefined ? null : Number(fd));
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ signal, err }) => {
    if (err !== undefined) log.fatal({ err }, "stopping after an error");
    else log.info({ signal }, "stopping");
    await serving[Symbol.asyncDispose]();
  });
  // Last: who reads this may send SIGTERM at once.
  log.info({ socket: config.socket }, "listening");
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `serving: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
