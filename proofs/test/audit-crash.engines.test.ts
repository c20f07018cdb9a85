import { rmSync } from "node:fs";
import t from "tap";
import { temporaryRoot } from "../audit/instances/auditd-instance.ts";
import { QUICK_CASES } from "../audit/crash/named-cases.ts";

for (const [name, run] of Object.entries(QUICK_CASES))
  t.test(name, async (t) => {
    const root = temporaryRoot();
    t.teardown(() => rmSync(root, { recursive: true, force: true }));
    t.same(await run(root), []);
  });
