/** Every process of ours that writes a log, with its log on a disk that is full. */
import { closeSync, openSync } from "node:fs";
import t from "tap";
import * as agent from "../../agent/src/log-destination.ts";
import * as appliance from "../../appliance/src/supervisor/log-destination.ts";
import * as auditd from "../../audit/src/auditd/log-destination.ts";
import * as coordinator from "../../coordinator/src/http/log-destination.ts";
import * as s3Front from "../../s3-front/src/log-destination.ts";

t.test("a full log disk costs a process its line, and nothing else", async (t) => {
  const full = openSync("/dev/full", "w");
  t.teardown(() => closeSync(full));
  for (const [name, { logDestination }] of Object.entries({ agent, appliance, auditd, coordinator, s3Front })) {
    const destination = logDestination(full);
    t.doesNotThrow(() => destination.write(`${name}: lost\n`));
    t.notOk("flushSync" in destination, `${name}: pino's fatal would wait for space without end`);
  }
});
