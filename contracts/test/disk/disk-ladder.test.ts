import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import {
  DISK_LADDER,
  diskStep,
  NODE_LADDER,
  stepBelow,
  stepBelowQuery,
} from "../../src/disk/disk-ladder.ts";

const GIB = 1024 ** 3;
const DISKS = readFileSync(
  join(import.meta.dirname, "..", "..", "..", "docs", "operator", "disks.md"),
  "utf8",
);

t.test("a small disk is judged by its share, a large one by bytes", async (t) => {
  for (const [total, free, step] of [
    [252 * GIB, 20 * GIB, "enough"],
    [252 * GIB, 9.9 * GIB, "low"],
    [252 * GIB, 1.1 * GIB, "low"],
    [252 * GIB, 0.9 * GIB, "full"],
    [20 * GIB, 2.1 * GIB, "enough"],
    [20 * GIB, 1.9 * GIB, "low"],
    [20 * GIB, 0.3 * GIB, "full"],
  ] as const)
    t.equal(diskStep({ totalBytes: total, freeBytes: free }), step, `${free} of ${total}`);
  t.equal(stepBelow("low", 50 * GIB), 5 * GIB);
});

t.test("Prometheus asks for the same steps", async (t) => {
  t.equal(
    stepBelowQuery("full"),
    `resontech_disk_free_bytes < clamp_max(resontech_disk_size_bytes * 0.02, ${GIB})`,
  );
});

t.test("the steps of a node stand one above the other", async (t) => {
  const { keptBytes, lowBytes, workBytes, enoughBytes, heldBytes, fullBytes } = NODE_LADDER;
  t.ok(keptBytes > lowBytes, "what is kept goes before anybody is warned");
  t.ok(lowBytes > workBytes && workBytes > enoughBytes);
  t.ok(enoughBytes > heldBytes + fullBytes, "what is taken back leaves more than what gives it up");
});

t.test("the operator reads the same steps", async (t) => {
  const share = (part: number) => `${part * 100} %`;
  for (const words of [
    `less than ${DISK_LADDER.low.bytes / GIB} GiB or ${share(DISK_LADDER.low.share)} is left`,
    `less than ${DISK_LADDER.full.bytes / GIB} GiB or ${share(DISK_LADDER.full.share)} is left`,
    `a node has less than ${NODE_LADDER.lowBytes / GIB} GiB for jobs`,
    `a node has less than ${NODE_LADDER.workBytes / GIB} GiB`,
    `with less than ${NODE_LADDER.keptBytes / GIB} GiB free, inputs that it`,
    `the agent holds ${NODE_LADDER.heldBytes / 1024 ** 2} MiB back`,
  ])
    t.match(DISKS, words, words);
});
