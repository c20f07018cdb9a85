import { createHash } from "node:crypto";
import { connect } from "node:net";
import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import {
  parseAnyCheckpoint,
  parseCheckpoint,
  signatureOf,
  verifiedTime,
} from "@resontech/audit/format/note/checkpoint";
import { KEY_TYPE, type NoteKey, parseVerifierKey } from "@resontech/audit/format/note/note-key";
import { formatNote, isLineOf } from "@resontech/audit/format/note/signed-note";
import { cosignTime } from "../src/cosign-time.ts";
import { requestOf, TestLog } from "./helper/test-log.ts";
import { runtimes, WitnessFixture } from "./helper/witness-fixture.ts";

/** The keys of `witness …` lines. */
const keysOf = (policyLines: string): NoteKey[] =>
  [...policyLines.matchAll(/^witness \S+ (\S+)$/gm)].map(([, vkey = ""]) => parseVerifierKey(vkey));

/** Times of the witness's lines under the checkpoint that was posted; fails unless each key's line is there and verifies. */
function cosignedTimes(t: Test, note: string, lines: string, keys: readonly NoteKey[]): number[] {
  const checkpoint = parseAnyCheckpoint(note + lines)!;
  return keys.map((key) => {
    const line = checkpoint.signatures.find((line) => isLineOf(line, key));
    const time = line === undefined ? null : verifiedTime(checkpoint, line, key);
    t.ok(time !== null && time > 1_700_000_000, `a line of type ${key.type}`);
    return time ?? 0;
  });
}

for (const runtime of runtimes())
  t.test(`answers every case of tlog-witness with its status: ${runtime.name}`, async (t) => {
    const log = await TestLog.make(t);
    const fork = await log.forkedAt(t, 50);
    const stranger = await TestLog.make(t, "other.audit.acme/2026");
    const extended = await TestLog.make(t, "extended.example/log");
    const witness = new WitnessFixture(t, runtime);
    const keys = keysOf(witness.init(log, extended));
    t.same([...new Set(keys.map(({ type }) => type))].slice(0, 1), [KEY_TYPE.ed25519Cosignature]);
    await witness.serve();

    const [ed25519] = log.signers;
    const head = await log.head(100);
    const good = signatureOf(head, ed25519!, 0);
    const text = parseCheckpoint(await log.note(100))!.text;
    const damaged = {
      ...good,
      signature: Buffer.from(good.signature.map((byte, at) => (at === 3 ? byte ^ 1 : byte))),
    };
    const byStranger = signatureOf(head, stranger.signers[0]!, 0);
    const note100 = await log.note(100);

    const refusedFirst: [string, number, string | Buffer][] = [
      ["an empty body", 400, ""],
      ["no old line", 400, `\n${note100}`],
      ["a size with a leading zero", 400, requestOf("01", [], note100)],
      ["a negative size", 400, requestOf("-1", [], note100)],
      ["a size beyond 2^53", 400, requestOf("9007199254740993", [], note100)],
      ["two spaces", 400, requestOf(" 0", [], note100)],
      ["a proof line that is no base64", 400, requestOf(0, ["?".repeat(44)], note100)],
      [
        "a proof line of 31 bytes",
        400,
        requestOf(0, [Buffer.alloc(31).toString("base64")], note100),
      ],
      [
        "64 proof lines",
        400,
        requestOf(0, Array<string>(64).fill(Buffer.alloc(32).toString("base64")), note100),
      ],
      ["no empty line", 400, `old 0\n${note100}`],
      ["a carriage return", 400, requestOf("0\r", [], note100)],
      [
        "bytes that are no UTF-8",
        400,
        Buffer.concat([Buffer.from("old 0\n\n"), Buffer.of(0xff), Buffer.from(note100)]),
      ],
      ["a note without signatures", 400, requestOf(0, [], `${text}\n`)],
      ["a note without its last newline", 400, requestOf(0, [], note100.slice(0, -1))],
      [
        "a root of 31 bytes",
        400,
        requestOf(
          0,
          [],
          note100.replace(/^(.*\n.*\n).*\n/, `$1${Buffer.alloc(31).toString("base64")}\n`),
        ),
      ],
      [
        "65 signatures",
        400,
        requestOf(0, [], formatNote({ text, signatures: Array(65).fill(good) })),
      ],
      ["more than any request has", 413, Buffer.alloc(100_000, "a")],
      ["an origin that was not admitted", 404, await stranger.request(0, 10)],
      [
        "a signature of a stranger alone",
        403,
        requestOf(0, [], formatNote({ text, signatures: [byStranger] })),
      ],
      [
        "a signature that does not verify",
        403,
        requestOf(0, [], formatNote({ text, signatures: [damaged] })),
      ],
      [
        "one that verifies and one that does not",
        403,
        requestOf(0, [], formatNote({ text, signatures: [good, damaged] })),
      ],
      [
        "a short signature",
        403,
        requestOf(
          0,
          [],
          formatNote({ text, signatures: [{ ...good, signature: Buffer.alloc(1) }] }),
        ),
      ],
      ["an old size above the size", 400, requestOf(101, [], note100)],
      ["a proof of the empty tree", 422, requestOf(0, await log.proof(50, 100), note100)],
    ];
    for (const [what, status, body] of refusedFirst)
      t.equal((await witness.post(body)).status, status, what);
    t.match(await witness.post(requestOf(3, await log.proof(3, 100), note100)), {
      status: 409,
      type: "text/x.tlog.size",
      body: "0\n",
    });
    t.same(
      witness.logs()[0],
      { origin: log.origin, size: 0, root: null, cosignedAt: null },
      "nothing of that was taken",
    );

    const first = await witness.post(
      requestOf(0, [], formatNote({ text, signatures: [byStranger, good] })),
    );
    t.equal(first.status, 200, "one signature of a known key is enough, strangers' are ignored");
    cosignedTimes(t, note100, first.body, keys);

    const refusedThen: [string, number, string][] = [
      [
        "a proof from the fork",
        422,
        requestOf(100, await fork.proof(100, 200), await fork.note(200)),
      ],
      ["no proof", 422, requestOf(100, [], await log.note(200))],
      ["another root at the same size", 422, requestOf(100, [], await fork.note(100))],
      [
        "a proof for the same size",
        422,
        requestOf(100, [Buffer.alloc(32).toString("base64")], note100),
      ],
      ["an older size", 400, requestOf(100, [], await log.note(60))],
      [
        "an old size above the size, for an unknown origin",
        404,
        requestOf(11, [], await stranger.note(10)),
      ],
    ];
    for (const [what, status, body] of refusedThen)
      t.equal((await witness.post(body)).status, status, what);
    for (const old of [0, 60])
      t.match(await witness.post(requestOf(old, await log.proof(old, 200), await log.note(200))), {
        status: 409,
        body: "100\n",
      });
    const same = await witness.post(await log.request(100, 100));
    t.equal(same.status, 200, "the same checkpoint again");
    const grown = await witness.post(await log.request(100, 300));
    t.equal(grown.status, 200);
    cosignedTimes(t, await log.note(300), grown.body, keys);

    const more = { ...(await extended.head(7)), extension: "time 17\nx\n" };
    const note = formatNote({
      text: `${more.origin}\n7\n${more.root.toString("base64")}\n${more.extension}`,
      signatures: extended.signers.slice(0, 1).map((signer) => signatureOf(more, signer, 1)),
    });
    const withExtension = await witness.post(requestOf(0, [], note));
    t.equal(withExtension.status, 200, "extension lines are signed with the rest");
    cosignedTimes(t, note, withExtension.body, keys);

    const monitored = await fetch(
      `${witness.url}/${createHash("sha256").update(log.origin).digest("hex")}/checkpoint`,
    );
    const shown = await monitored.text();
    t.equal(parseCheckpoint(shown)?.size, 300);
    cosignedTimes(t, shown, "", keys);
    t.ok(shown.includes(log.origin + " "), "with the log's own line");
    t.equal((await fetch(`${witness.url}/${"0".repeat(64)}/checkpoint`)).status, 404);
    t.equal((await fetch(`${witness.url}/add-checkpoint`)).status, 405);
    t.equal(
      (await fetch(`${witness.url}/add-checkpoint?x=1`, { method: "POST", body: "" })).status,
      404,
    );
    t.equal((await fetch(`${witness.url}/../name`)).status, 404);
  });

t.test(
  "what a killed life left of files that it was writing goes when it serves again",
  async (t) => {
    const witness = new WitnessFixture(t);
    witness.init(await TestLog.make(t));
    const left = ["name", "logs/a.json"].map((file) =>
      join(witness.dir, `${file}.0123456789abcdef.new`),
    );
    const young = join(witness.dir, "logs/b.json.0123456789abcdef.new");
    for (const file of [...left, young]) writeFileSync(file, "{");
    for (const file of left) utimesSync(file, new Date(), new Date(Date.now() - 120_000));
    await witness.serve();
    t.same([...left, young].filter(existsSync), [young], "a log may be admitted at this moment");
  },
);

t.test("the empty tree is cosigned with its own root alone", async (t) => {
  const log = await TestLog.make(t);
  const witness = new WitnessFixture(t);
  witness.init(log);
  await witness.serve();
  const wrong = await log.head(1);
  const note = formatNote({
    text: `${log.origin}\n0\n${wrong.root.toString("base64")}\n`,
    signatures: [signatureOf({ ...wrong, size: 0 }, log.signers[0]!, 0)],
  });
  t.equal((await witness.post(requestOf(0, [], note))).status, 422);
  t.equal((await witness.post(await log.request(0, 0))).status, 200);
  t.equal((await witness.post(await log.request(0, 5))).status, 200);
});

t.test(
  "of many requests at once no two are granted that fork the log, and none rolls it back",
  async (t) => {
    const log = await TestLog.make(t);
    const fork = await log.forkedAt(t, 0);
    const witness = new WitnessFixture(t);
    witness.init(log);
    await witness.serve();
    const rootsOf = { log: new Set<number>(), fork: new Set<number>() };
    let size = 0;
    const statuses = new Map<number, number>();
    for (let round = 0; round < 25; round++) {
      // Eight requests that all know the same latest size, of two histories, and some that know an older one.
      const sent = await Promise.all(
        Array.from({ length: 8 }, async (_, at) => {
          const of = at % 2 === 0 ? "log" : "fork";
          const from = at === 7 ? Math.max(0, size - 1) : size;
          const to = Math.min(512, size + 1 + ((at * 5 + round) % 12));
          return {
            of,
            from,
            to,
            body: await (of === "log" ? log : fork).request(from, to),
          } as const;
        }),
      );
      const answers = await Promise.all(
        sent.map(async (one) => ({ ...one, answer: await witness.post(one.body) })),
      );
      const granted = answers.filter(({ answer }) => answer.status === 200);
      for (const { answer } of answers)
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      for (const { of, to } of granted) rootsOf[of].add(to);
      const [now] = witness.logs();
      t.equal(
        now!.size,
        Math.max(size, ...granted.map(({ to }) => to)),
        `round ${round}: what is kept is the largest that was granted`,
      );
      t.equal(
        new Set(granted.map(({ from }) => from)).size,
        granted.length === 0 ? 0 : 1,
        "granted from the latest size alone",
      );
      size = now!.size;
    }
    t.ok(rootsOf.log.size === 0 || rootsOf.fork.size === 0, "one history was granted, never both");
    t.ok(statuses.get(200)! >= 25 && statuses.get(409)! > 0, JSON.stringify([...statuses]));
  },
);

t.test(
  "killed after its state is on disk and before it answers, it goes on from that state",
  async (t) => {
    const log = await TestLog.make(t);
    const witness = new WitnessFixture(t);
    witness.init(log);
    await witness.serve();
    t.equal((await witness.post(await log.request(0, 10))).status, 200);
    await witness.stop();
    for (const [when, kept] of [
      ["before", 10],
      ["after", 20],
    ] as const) {
      witness.preload = killAtRename(when);
      await witness.serve();
      await t.rejects(
        witness.post(await log.request(10, 20)),
        `killed ${when} the rename: no answer`,
      );
      await witness.ended();
      t.equal(witness.logs()[0]!.size, kept, `killed ${when} the rename`);
    }
    witness.preload = null;
    await witness.serve();
    t.match(await witness.post(await log.request(10, 30)), { status: 409, body: "20\n" });
    t.equal(
      (await witness.post(await log.request(20, 20))).status,
      200,
      "the answer that was lost can be had",
    );
    t.equal((await witness.post(await log.request(20, 30))).status, 200);
  },
);

/** Text of a module that kills its process right before or after the state gets its name. */
function killAtRename(when: "before" | "after"): string {
  return `import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
const { rename } = fs;
fs.rename = async (from, to) => {
  if (!to.includes("/logs/")) return rename(from, to);
  if (${when === "after"}) await rename(from, to);
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => {});
};
syncBuiltinESMExports();`;
}

t.test(
  "its time never goes back, and a clock far behind cosigns nothing until a time that the refusal names",
  async (t) => {
    const log = await TestLog.make(t);
    const witness = new WitnessFixture(t);
    const keys = keysOf(witness.init(log));
    const aheadS = (seconds: number) =>
      `const now = Date.now; Date.now = () => now() + ${seconds * 1_000};`;
    const timeAt = async (seconds: number, from: number, to: number) => {
      witness.preload = aheadS(seconds);
      await witness.serve();
      const answer = await witness.post(await log.request(from, to));
      await witness.stop();
      return answer.status === 200
        ? cosignedTimes(t, await log.note(to), answer.body, keys)[0]!
        : answer;
    };
    const first = await timeAt(0, 0, 10);
    t.equal(await timeAt(-200, 10, 20), first, "a little behind: the last time again");
    const utc = (seconds: number) => new Date(seconds * 1_000).toISOString().slice(0, 19) + "Z";
    const refused = (await timeAt(-3_600, 20, 30)) as { status: number; body: string };
    t.equal(refused.status, 503);
    const [, last, now = "", from] =
      /^clock_behind: cosigned at (\S+), the clock of this witness says (\S+); it cosigns again from (\S+)\n$/.exec(
        refused.body,
      ) ?? [];
    t.same([last, from], [utc(first as number), utc((first as number) - 300)]);
    t.ok(Date.now() - Date.parse(now) >= 3_600_000);
    t.ok(((await timeAt(60, 20, 30)) as number) >= (first as number) + 60);
    t.equal(cosignTime(5_000_999, 4_000), 5_000);
    t.equal(cosignTime(3_700_000, 4_000), 4_000);
    t.equal(cosignTime(3_699_000, 4_000), null);
  },
);

t.test(
  "one process serves a folder, keys open to others are refused, and so is a state that it did not write",
  async (t) => {
    const log = await TestLog.make(t);
    const witness = new WitnessFixture(t);
    witness.init(log);
    t.match(witness.run("init", "--name", "other"), { status: 1, stderr: /already_made/ });
    t.equal(statSync(join(witness.dir, "ed25519.pem")).mode & 0o777, 0o400);
    await witness.serve();
    t.match(witness.run("serve", "--listen", "127.0.0.1:0"), {
      status: 1,
      stderr: /already_serving/,
    });
    const file = join(
      witness.dir,
      "logs",
      `${createHash("sha256").update(log.origin).digest("hex")}.json`,
    );
    const state = readFileSync(file, "utf8");
    writeFileSync(file, state.slice(0, 50));
    t.equal((await witness.post(await log.request(0, 10))).status, 500, "fails closed");
    writeFileSync(file, state);
    t.equal((await witness.post(await log.request(0, 10))).status, 200);
    await witness.stop("SIGKILL");
    await witness.serve();
    await witness.stop();
    t.match(witness.run("serve", "--listen", "nowhere"), { status: 2, stderr: /usage/ });
    t.match(witness.run("serve", "--nonsense"), { status: 2, stderr: /usage/ });
  },
);

t.test(
  "a client that sends half a request and waits is cut off, and others are served meanwhile",
  async (t) => {
    const log = await TestLog.make(t);
    const witness = new WitnessFixture(t);
    witness.init(log);
    await witness.serve();
    const { port } = new URL(witness.url);
    const slow = connect(Number(port), "127.0.0.1");
    slow.write("POST /add-checkpoint HTTP/1.1\r\nHost: w\r\n");
    const closed = new Promise<number>((resolve) => {
      const startedMs = performance.now();
      slow.on("data", () => {});
      slow.once("close", () => resolve(performance.now() - startedMs));
    });
    t.equal((await witness.post(await log.request(0, 10))).status, 200);
    t.ok((await closed) < 14_000);
    const long = connect(Number(port), "127.0.0.1");
    long.write(`POST /add-checkpoint HTTP/1.1\r\nHost: w\r\nX: ${"a".repeat(10_000)}\r\n\r\n`);
    let answer = "";
    for await (const chunk of long) answer += String(chunk);
    t.match(answer, /^HTTP\/1.1 431 /);
  },
);
