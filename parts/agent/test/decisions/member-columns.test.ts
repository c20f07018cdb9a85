import { MemberUses } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { Value } from "typebox/value";
import { memberColumns } from "../../src/decisions/member-columns.ts";
import type { RunUsage } from "../../src/decisions/run-usage.ts";

const GIB = 1024 ** 3;
/** A site of a day's training, with as many digits as such figures have. */
const BUSY: RunUsage = {
  cpuMs: 691_200_123,
  ...{ memoryBytes: 41 * GIB + 1, memoryPeakBytes: 63 * GIB, memoryLimitBytes: 64 * GIB },
  ...{ diskReadBytes: 812 * GIB, diskWrittenBytes: 96 * GIB },
  ...{ networkReceivedBytes: 240 * GIB, networkSentBytes: 251 * GIB },
};

t.test("24 busy members take less than 2 kB of a beat", async (t) => {
  const columns = memberColumns(new Map(Array.from({ length: 24 }, (_, place) => [place, BUSY])));
  t.ok(Value.Check(MemberUses, columns));
  const bytes = JSON.stringify(columns).length;
  t.ok(bytes <= 2_000, `${bytes}`);
});

t.test("what is not known is null beside others, and no column alone: never 0", async (t) => {
  const usages = new Map<number, RunUsage>([
    [2, { cpuMs: 0, memoryBytes: 2048 }],
    [5, { cpuMs: 7 }],
  ]);
  t.strictSame(memberColumns(usages), { held: [2, 5], cpuMs: [0, 7], memoryKib: [2, null] });
});
