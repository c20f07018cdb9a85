/** `agent --config FILE`: one node's agent. Root: it mounts member file systems and speaks to the container engine. */
import { parseArgs } from "node:util";
import { logDestination } from "@resontech/frame/log-destination";
import { pino } from "pino";
import { runAgent } from "./app.ts";
import { loadConfig } from "./config.ts";
import { joinAndEnd } from "./join/join-and-end.ts";
import { listenForLiveness } from "./liveness-socket.ts";
import { programFolders } from "./program-folders.ts";

/** After the end began, for what is on its way to the disk; then the process goes, and the next one goes on from the records. */
const LAST_RESORT_MS = 10_000;

const { values } = parseArgs({
  options: { config: { type: "string" }, join: { type: "boolean" }, help: { type: "boolean" } },
});
if (values.config === undefined || values.help === true) {
  process.stdout.write(
    "usage: agent --config FILE [--join]\n\nRuns this node's agent until SIGTERM. Job containers go on without it for as long as their lease holds.\n--join: joins with the token that the configuration names, prints one JSON line and ends.\n",
  );
  process.exit(values.help === true ? 0 : 2);
}
process.umask(0o022);
const config = loadConfig(values.config);
process.env["PATH"] = programFolders(config).join(":");
const log = pino(
  { name: "agent", level: config.logLevel },
  logDestination(values.join === true ? 2 : 1),
);
if (values.join === true) {
  const answer = await joinAndEnd(config, log);
  process.stdout.write(`${JSON.stringify(answer)}\n`);
  process.exit(answer.refused === null ? 0 : 1);
}
const stop = new AbortController();
const end = (): void => {
  stop.abort();
  setTimeout(() => process.exit(0), LAST_RESORT_MS).unref();
};
for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, end);
try {
  log.info({ node: config.node, instance: config.instance }, "agent starts");
  if (config.livenessSocket !== undefined) await listenForLiveness(config.livenessSocket);
  await runAgent(config, log, stop.signal, end);
} catch (error) {
  if (!stop.signal.aborted) {
    log.fatal({ err: error }, "the agent can't go on");
    process.exit(1);
  }
}
log.info("agent stopped; its containers go on");
// Members wait for their containers in timers and requests of their own: their records say where they are.
process.exit(0);
