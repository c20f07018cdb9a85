import t from "tap";
import { REFUSED_TYPES as REFUSED_OF_CATALOGUE } from "@resontech/contracts/audit-refusals";
import { commitment } from "@resontech/audit/format/event/commitment";
import { isListable, listEntries } from "../../src/listing/list-entries.ts";
import { type ListedEntry, listedLine } from "../../src/listing/listed-entry.ts";
import { type Asked, parseListing } from "../../src/listing/listing-filter.ts";
import { nodePlatform } from "../../src/platform/platform-node.ts";
import { isRefused, REFUSED_TYPES } from "../../src/listing/refused.ts";
import { MadeLog, ORIGIN } from "../helper/made-log.ts";

type Sealed = { index: number; field: string; commitment: string } & Record<string, unknown>;

/** Three reads, one of them refused, with a path and addresses of which one is disclosed, one erased, and one lies. */
function readLog(): { log: MadeLog; disclosures: Sealed[] } {
  const log = MadeLog.begun();
  const disclosures: Sealed[] = [];
  const read = (
    type: "data.object.read" | "data.object.refused",
    path: string,
    addr: string,
  ): number => {
    const [ofPath, ofAddr] = [commitment("object.id", path), commitment("src.addr", addr)];
    const isRead = type === "data.object.read";
    const index = log.say({
      type,
      src: { addr: ofAddr.commitment },
      object: { kind: "object", id: ofPath.commitment },
      outcome: isRead ? { code: "ok", status: 200 } : { code: "AccessDenied", status: 403 },
      detail: isRead ? { status: 200 } : { status: 403, code: "AccessDenied" },
    });
    for (const { commitment: sealed, disclosure } of [ofPath, ofAddr])
      disclosures.push({ index, commitment: sealed, ...disclosure });
    return index;
  };
  read("data.object.read", "proj-1/data/anna.csv", "10.0.0.7");
  log.nowMs += 86_400_000;
  read("data.object.refused", "proj-1/data/ben.csv", "10.0.0.8");
  log.requested();
  return { log, disclosures };
}

async function listed(
  log: MadeLog,
  archive: Buffer,
  asked: Asked,
  read: Buffer = archive,
): Promise<ListedEntry[]> {
  const report = await log.judge({ archive });
  if (!isListable(report)) throw new Error(JSON.stringify(report.verdicts));
  const filter = parseListing(asked);
  if ("fault" in filter) throw new Error(filter.fault);
  const found: ListedEntry[] = [];
  const bundle = (async function* () {
    yield read;
  })();
  const show = (entry: ListedEntry) => void found.push(entry);
  const shown = await listEntries({
    ...{ bundle, report, platform: nodePlatform, filter, show },
    flush: async () => undefined,
  });
  if (shown !== found.length) throw new Error(`${shown} are counted, ${found.length} shown`);
  return found;
}

t.test("each filter keeps what it names, and every one together", async (t) => {
  const { log, disclosures } = readLog();
  const archive = log.archive({ disclosures });
  const all = log.leaves.length;
  const [read, refused, submitted] = [all - 3, all - 2, all - 1];
  const cases: [Asked, number[]][] = [
    [{ type: "data.object.read" }, [read]],
    [{ type: "data.*" }, [read, refused]],
    [{ phase: "requested" }, [submitted]],
    [{ actor: "usr-1" }, [read, refused, submitted]],
    [{ actor: "usr-2" }, []],
    [{ object: "job-1" }, [submitted]],
    [{ object: "job-*" }, [submitted]],
    [{ object: "proj-1/data/anna.csv" }, [read]],
    [{ object: "proj-1/data/*" }, [read, refused]],
    [{ value: "10.0.0.8" }, [refused]],
    [{ value: "10.0.0.*" }, [read, refused]],
    [{ outcome: "refused" }, [refused]],
    [{ outcome: "ok" }, [read]],
    [{ outcome: "AccessDenied" }, [refused]],
    [{ from: "2026-03-02" }, [refused, submitted]],
    [{ from: "2026-03-02T08:00:00+01:00", to: "2026-03-02T08:00:00.001Z" }, [refused, submitted]],
    [{ from: "2026-03-02", to: "2026-03-01" }, []],
    [{ to: "2026-03-01", type: "data.*" }, [read]],
    [
      {
        type: "data.*",
        outcome: "refused",
        actor: "usr-1",
        value: "10.*",
        object: "proj-1/*",
        from: "2026-03-02",
      },
      [refused],
    ],
  ];
  for (const [asked, expected] of cases)
    t.same(
      (await listed(log, archive, asked)).map(({ entry }) => entry),
      expected,
      JSON.stringify(asked),
    );
  t.equal((await listed(log, archive, {})).length, all);
});

t.test("a value is shown where it opens its commitment, and nowhere else", async (t) => {
  const { log, disclosures } = readLog();
  const [path, addr, lie, erased] = disclosures as [Sealed, Sealed, Sealed, Sealed];
  const marked = {
    index: erased.index,
    field: erased.field,
    commitment: erased.commitment,
    erased: { index: 1, origin: ORIGIN },
  };
  const archive = log.archive({
    disclosures: [path, addr, { ...lie, value: "proj-1/forged" }, marked],
  });
  const [first, second] = await listed(log, archive, { type: "data.*" });
  t.same(first!.values, {
    "object.id": { value: "proj-1/data/anna.csv" },
    "src.addr": { value: "10.0.0.7" },
  });
  t.same(second!.values, {
    "object.id": { opens: false },
    "src.addr": { erased: { index: 1, origin: ORIGIN } },
  });
  t.match(
    listedLine(first!),
    /data\.object\.read +fact ok 200 +user usr-1 +object "proj-1\/data\/anna\.csv" +p {2}src\.addr="10\.0\.0\.7"/,
  );
  t.match(
    listedLine(second!),
    /fact AccessDenied 403 .*sealed [0-9a-f]{12}… \(a value that does not open it\) .*marked as erased by entry 1/,
  );
  t.notMatch(listedLine(second!), /forged/);
  t.same(
    await listed(log, archive, { object: "proj-1/forged" }),
    [],
    "and a lie is found by nobody",
  );
  const sealed = await listed(log, log.archive(), { type: "data.object.read" });
  t.same(sealed[0]!.values, {});
  t.match(listedLine(sealed[0]!), /object sealed [0-9a-f]{12}…/);
});

t.test("a hostile value moves no cursor, and a claim is no actor", async (t) => {
  const log = MadeLog.begun();
  const { commitment: sealed, disclosure } = commitment("src.addr", "\u001b[2J\u202Egnp.exe");
  const index = log.say({
    type: "auth.refused",
    actor: { sub: "unproven", kind: "anonymous" },
    src: { addr: sealed },
    object: { kind: "appliance", id: "appliance" },
    outcome: { code: "SignatureDoesNotMatch", status: 403 },
    detail: { reason: "SignatureDoesNotMatch", claimed: "usr-1" },
  });
  const [entry] = await listed(
    log,
    log.archive({ disclosures: [{ index, commitment: sealed, ...disclosure }] }),
    {
      outcome: "refused",
    },
  );
  t.match(listedLine(entry!), /anonymous unproven, claims usr-1/);
  t.notMatch(listedLine(entry!), /[^\P{C}]/u);
  t.same(await listed(log, log.archive(), { actor: "usr-1" }), []);
});

t.test(
  "an export that is another one by the second reading is told, and one that is not sound is not listed",
  async (t) => {
    const { log } = readLog();
    const archive = log.archive();
    const other = MadeLog.begun();
    await t.rejects(listed(log, archive, {}, other.archive()), { name: "Refused", message: /.+/ });
    const damaged = Buffer.from(archive);
    const at = damaged.indexOf('"usr-1"');
    damaged.write('"usr-2"', at);
    await t.rejects(listed(log, archive, {}, damaged), {
      name: "Refused",
      message: /not the one any more that was judged/,
    });
    t.notOk(isListable(await log.judge({ archive: damaged })));
  },
);

t.test("what can match nothing is refused, and what may be asked is said", async (t) => {
  const cases: [Asked, RegExp][] = [
    [{ type: "job.sumbit" }, /no such type; there are job\.submit, .*job\.cancel/],
    [{ type: "jbo.*" }, /there are .*job\.\*/],
    [{ type: "constructor" }, /no such type/],
    [{ phase: "done" }, /requested, completed, failed, denied, fact, observed/],
    [{ actor: "anna b" }, /--actor "anna b" can match no entry; it is an id/],
    [{ object: "job 7" }, /an id such as job-7f, a path/],
    [{ object: "" }, /--object/],
    [{ value: "" }, /--value/],
    [{ outcome: "not ok" }, /refused, ok, or a code/],
    ...[
      "2026-02-30",
      "yesterday",
      "2026-11-25T25:00Z",
      "2026-02-30T10:00Z",
      "2026-11-25T10:00",
      "0000-00-00",
      "2026-11-25T10:00+99:00",
    ].map((from): [Asked, RegExp] => [
      { from },
      /--from .* can match no entry; it is a day such as 2026-11-25/,
    ]),
    [{ to: "25.11.2026" }, /--to/],
  ];
  for (const [asked, fault] of cases) {
    const read = parseListing(asked);
    t.match("fault" in read ? read.fault : "taken", fault, JSON.stringify(asked));
  }
});

t.test("refused means the same to the verifier as to the appliance", async (t) => {
  t.same([...REFUSED_TYPES].sort(), [...REFUSED_OF_CATALOGUE].sort());
  for (const [said, expected] of [
    [
      { type: "job.submit", phase: "denied", outcome: { code: "quota_exceeded", status: 403 } },
      true,
    ],
    [{ type: "data.object.delete.ended", phase: "fact", outcome: { code: "AccessDenied" } }, true],
    [
      { type: "data.object.read", phase: "fact", outcome: { code: "NoSuchKey", status: 404 } },
      false,
    ],
    [{ type: "data.object.read", phase: "fact", outcome: { code: "ok", status: 200 } }, false],
    [{ type: "admin.refused", phase: "fact" }, true],
    [{ type: "key.list", phase: "fact" }, false],
  ] as const)
    t.equal(isRefused(said), expected, said.type);
});
