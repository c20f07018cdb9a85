import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { reserveOf } from "../../src/disk/log-reserve.ts";
import {
  demandsOfFirstStart,
  demandsOfNode,
  demandsOfRelease,
  FIRST_JOB_BYTES,
  sumOf,
} from "../../src/disk/room-account.ts";

const GIB = 1024 ** 3;
/** Of all processes of a release; `parts/` counts them. */
const DATA_BYTES = 1.5 * GIB;
const blob = (sha256: string, sizeBytes: number) => ({ sha256, sizeBytes });
const RELEASE = {
  tree: [blob("a", 500), blob("a", 500), blob("b", 100)],
  images: [{ blobs: [blob("c", 1_000)], unpackedBytes: 2_700 }, { blobs: [blob("d", 200)] }],
};
const bytesOf = (demands: readonly { part: string; bytes: number }[]) =>
  Object.fromEntries(demands.map(({ part, bytes }) => [part, bytes]));

t.test("a release takes each blob once, and its images as stored and as unpacked", async (t) => {
  t.same(bytesOf(demandsOfRelease(RELEASE)), {
    programs: 630,
    images: 1_260,
    "images unpacked": Math.ceil((2_700 + 600) * 1.05),
  });
  t.same(
    bytesOf(demandsOfRelease(RELEASE, (sha256) => sha256 !== "b")),
    { programs: 105, images: 0, "images unpacked": 0 },
    "an upgrade takes what is new",
  );
});

t.test("whatever the disk, what is asked for leaves the first job its room", async (t) => {
  for (const keyKind of ["live", "dev"] as const)
    for (let gib = 1; gib <= 4_096; gib = Math.ceil(gib * 1.3)) {
      const totalBytes = gib * GIB;
      const asked = sumOf(demandsOfFirstStart(keyKind, totalBytes, DATA_BYTES));
      const held = reserveOf(keyKind, { totalBytes, freeBytes: asked });
      t.ok(asked - held >= DATA_BYTES + FIRST_JOB_BYTES, `${keyKind}, ${gib} GiB`);
      t.ok(asked - held < DATA_BYTES + FIRST_JOB_BYTES + GIB, "and asks for little more");
    }
});

t.test("a log that has settled what it holds back is not asked for it again", async (t) => {
  t.equal(sumOf(demandsOfFirstStart(null, 30 * GIB, DATA_BYTES)), DATA_BYTES + FIRST_JOB_BYTES);
});

t.test("the operator reads the same sizes", async (t) => {
  const text = readFileSync(
    join(import.meta.dirname, "..", "..", "..", "docs", "operator", "disks.md"),
    "utf8",
  );
  const image = demandsOfNode(0).find(({ part }) => part === "a job's image")!;
  for (const words of [
    `databases, figures and logs | ${DATA_BYTES / GIB} GiB`,
    `first job | ${FIRST_JOB_BYTES / GIB} GiB`,
    `a job's image | ${image.bytes / GIB} GiB`,
  ])
    t.match(text, words, words);
});
