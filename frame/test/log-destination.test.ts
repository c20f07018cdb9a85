import { closeSync, openSync } from "node:fs";
import t from "tap";
import { logDestination } from "../src/log-destination.ts";

t.test("a full log disk costs a process its line, and nothing else", async (t) => {
  const full = openSync("/dev/full", "w");
  t.teardown(() => closeSync(full));
  const destination = logDestination(full);
  t.doesNotThrow(() => destination.write("lost\n"));
  t.notOk("flushSync" in destination, "pino's fatal would wait for space without end");
});
