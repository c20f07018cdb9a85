/** A follower as a process of its own, so that a test can kill it. */
import { randomUUID } from "node:crypto";
import { connectProducer } from "@resontech/audit/producer";
import { pino } from "pino";
import { followHostSessions } from "../../src/host-sessions/follow-host-sessions.ts";

const [socketPath = "", wtmpFile = "", stateFile = ""] = process.argv.slice(2);
const ending = new AbortController();
process.on("SIGTERM", () => ending.abort());
await using producer = await connectProducer({ socketPath, boot: randomUUID() });
await followHostSessions({
  ...{ wtmpFile, stateFile, log: pino(), signal: ending.signal, pollMs: 5 },
  record: (draft, disclosures) => producer.observed(draft, disclosures),
});
