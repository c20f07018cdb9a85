/** `agent --config FILE`: one node's agent. Root: it mounts member file systems and speaks to the container engine. */
import { parseArgs } from "node:util";
import { destination, pino } from "pino";
import { Agent } from "./app.ts";
import { loadConfig } from "./config.ts";

const { values } = parseArgs({ options: { config: { type: "string" }, help: { type: "boolean" } } });
if (values.config === undefined || values.help === true) {
  process.stdout.write(
    "usage: agent --config FILE\n\nRuns this node's agent until SIGTERM. Job containers go on without it for as long as their lease holds.\n",
  );
  process.exit(values.help === true ? 0 : 2);
}
process.umask(0o022);
const config = loadConfig(values.config);
const log = pino({ name: "agent", level: config.logLevel }, destination({ sync: true }));
const stop = new AbortController();
for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => stop.abort());
process.on("unhandledRejection", (error) => {
  log.fatal({ err: error }, "an error that nobody handled");
  process.exit(1);
});
try {
  const agent = await Agent.start(config, log);
  log.info({ node: config.node }, "agent runs");
  await agent.run(stop.signal);
  log.info("agent stopped; its containers go on");
  process.exit(0);
} catch (error) {
  log.fatal({ err: error }, "the agent can't go on");
  process.exit(1);
}
