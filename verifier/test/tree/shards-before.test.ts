/** What an auditor kept of earlier shards, beside what a shard says of them that followed a restore, or the year. */
import t from "tap";
import type { KnownHead } from "../../src/tree/known.ts";
import type { Verdict } from "../../src/verdicts.ts";
import { MadeLog, ORIGIN } from "../helper/made-log.ts";

const [BEFORE, GONE, LAST] = [
  "box.audit.acme/2024-3",
  "box.audit.acme/2025",
  "box.audit.acme/2025-2",
];
const hex = (byte: number) => Buffer.alloc(32, byte).toString("hex");
const head = (origin: string, size: number, byte = 0): KnownHead => ({
  ...{ origin, size, root: Buffer.alloc(32, byte).toString("latin1") },
});

const RESTORED = {
  ...{
    reason: "restore",
    prev_origin: BEFORE,
    prev_size: 50,
    prev_root: hex(5),
    seen_size: 80,
    seen_root: hex(8),
  },
  lost: [
    { origin: GONE, size: 30, root: null },
    { origin: LAST, size: 7, root: hex(7) },
  ],
};

/** @param own whether the auditor kept a checkpoint of this very log as well */
async function appendOnly(
  open: Record<string, unknown>,
  known: KnownHead[],
  own = false,
): Promise<Verdict> {
  const log = MadeLog.begun(open);
  const mine = own ? [{ origin: ORIGIN, size: 2, root: log.rootAt(2).toString("latin1") }] : [];
  return (await log.judge({ known: [...known, ...mine] })).verdicts["APPEND-ONLY"];
}

t.test(
  "who has seen more of an earlier shard than is admitted knows that the loss was understated",
  async (t) => {
    for (const [what, known, said] of [
      [
        "of the one that was put back",
        head(BEFORE, 81, 8),
        /2024-3 has 81 entries, and this log admits that 80 were seen/,
      ],
      [
        "as many entries, and others",
        head(BEFORE, 80, 9),
        /the 80 entries of box.audit.acme\/2024-3/,
      ],
      ["of the end of what is kept", head(BEFORE, 50, 9), /2024-3, ended otherwise/],
      ["of one that is gone", head(GONE, 31), /2025 has 31 entries, and this log admits that 30/],
      ["of another one", head(LAST, 7, 8), /the 7 entries of box.audit.acme\/2025-2/],
      [
        "of one that is not named",
        head("box.audit.acme/2024-4", 1),
        /2024-4 has 1 entries, and this log admits that 0/,
      ],
      [
        "of the last before this one",
        head("box.audit.acme/2025-11", 3),
        /2025-11 has 3 entries, and this log admits that 0/,
      ],
    ] as const)
      for (const own of [false, true])
        t.match(
          await appendOnly(RESTORED, [head(LAST, 1), known], own),
          { verdict: "FAIL", index: 0, reason: said },
          what,
        );
  },
);

t.test("as much as is admitted, or less, was not understated", async (t) => {
  const known = [
    ...[head(BEFORE, 80, 8), head(BEFORE, 79, 1), head(BEFORE, 51, 1), head(BEFORE, 50, 5)],
    ...[head(GONE, 30, 1), head(GONE, 1), head(LAST, 7, 7), head("box.audit.acme/2025-11", 0)],
  ];
  t.match(await appendOnly(RESTORED, known, true), {
    verdict: "PASS",
    reason: /^1 known checkpoints are beginnings [^;]*; [^;]*$/,
  });
  t.match(await appendOnly(RESTORED, known), {
    verdict: "NOT CHECKED",
    reason: /^no checkpoint of this log [^;]*$/,
  });
});

t.test("what an export says nothing of is not checked by it, and said", async (t) => {
  for (const known of [
    head(BEFORE, 49, 9),
    head("box.audit.acme/2024-2", 900),
    head("box.audit.acme/2027", 900),
    head("box.audit.acme/2026-2", 900),
    head("other.audit.acme/2025-3", 900),
    head("acme", 900),
  ]) {
    const one = /NOT CHECKED: 1 of other shards/;
    t.match(
      await appendOnly(RESTORED, [known], true),
      { verdict: "PASS", reason: one },
      known.origin,
    );
    t.match(
      await appendOnly(RESTORED, [known]),
      { verdict: "NOT CHECKED", reason: one },
      known.origin,
    );
  }
});

t.test("a shard that follows another by the year's turn lost nothing of it", async (t) => {
  const turned = {
    reason: "year",
    prev_origin: BEFORE,
    prev_size: 50,
    prev_root: hex(5),
    seen_size: 90,
    seen_root: hex(9),
  };
  t.match(await appendOnly(turned, [head(BEFORE, 50, 5)], true), { verdict: "PASS" });
  t.match(await appendOnly(turned, [head(BEFORE, 51, 5)], true), {
    verdict: "FAIL",
    index: 0,
    reason: /51 entries, .* 50 /,
  });
  t.match(
    await appendOnly({}, [head(BEFORE, 51, 5)], true),
    { verdict: "PASS" },
    "and the first follows none",
  );
});
