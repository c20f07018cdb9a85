/** `vault --config FILE`: keeps what opens commitments, sealed, and ends it. */
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { logDestination } from "@resontech/frame/log-destination";
import closeWithGrace from "close-with-grace";
import { pino } from "pino";
import { loadConfig } from "./config.ts";
import { restoreKeys } from "./restore-keys.ts";
import { Vault } from "./vault.ts";

const USAGE = `usage: vault --config FILE                    seal, erase, disclose; ends on SIGTERM
       vault restore COPY --config FILE       put keys back from a copy whose epoch lives; prints one JSON line
`;
const STOP_TIMEOUT_MS = 15_000;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { config: { type: "string" }, help: { type: "boolean" } },
  });
  const [verb, copy, ...rest] = positionals;
  const isCommand =
    verb === undefined || (verb === "restore" && copy !== undefined && rest.length === 0);
  if (values.help === true || values.config === undefined || !isCommand) {
    process.stdout.write(USAGE);
    process.exitCode = values.help === true ? 0 : 2;
    return;
  }
  process.umask(0o077);
  const config = await loadConfig(values.config);
  if (copy !== undefined) {
    process.stdout.write(`${JSON.stringify(await restoreKeys(config, copy))}\n`);
    return;
  }
  const log = pino({ name: "vault", level: config.logLevel }, logDestination(1));
  const vault = await Vault.start(config, log);
  closeWithGrace({ delay: STOP_TIMEOUT_MS, logger: false }, async ({ signal, err }) => {
    if (err !== undefined) log.fatal({ err }, "stopping after an error");
    else log.info({ signal }, "stopping");
    await vault[Symbol.asyncDispose]();
  });
  // Last: who reads this may send SIGTERM at once.
  log.info("listening");
}

main().catch((error: unknown) => {
  writeSync(
    2,
    `vault: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}\n`,
  );
  process.exit(1);
});
