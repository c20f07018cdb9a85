/**
 * Whoever guesses platform keys learns nothing of the ones that exist. Structurally: of a well-formed key its SHA-256 is made and looked up once, whole, so
 * that a known beginning is as far from a hit as any other key. By work: both run the same code, each part of it as often.
 */
import { randomBytes } from "node:crypto";
import { Session } from "node:inspector/promises";
import { PEER_HEADER } from "@resontech/contracts/peer-header";
import t from "tap";
import { insertUser } from "../../src/identity/bucket-store.ts";
import { formatPlatformKey, hashPlatformKey } from "../../src/identity/decisions/platform-key.ts";
import { drawKey } from "../../src/identity/draw-key.ts";
import { findCaller, insertKey } from "../../src/identity/key-store.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

// Blocks are counted of what is compiled from now on.
const coverage = new Session();
coverage.connect();
await coverage.post("Profiler.enable");
await coverage.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
t.teardown(() => coverage.disconnect());

// No request of these tests gets as far as the object store.
const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine, {
  limits: { requestsPerMinute: 1_000_000, failuresPerMinute: 1_000_000 },
});
t.teardown(() => api.close());
const LIVING = 500;
const living = await api.commit.run((db) =>
  Array.from({ length: LIVING }, (_, index) => {
    const of = { userId: `u_${index}`, projectId: `p_${index}` };
    const { key, row } = drawKey("dev");
    insertUser(db, {
      ...{ ...of, username: `user${index}`, bucket: `user${index}-1` },
      ...{ quotaBytes: 1, now: 1 },
    });
    insertKey(db, {
      ...{ ...row, ...of, name: "key", scopes: ["jobs:read"], createdAt: 1, expiresAt: 1e15 },
    });
    return key;
  }),
);

/** Well formed, unknown, and as long as it goes like a key that is there: what a list of keys shows, and more. */
function withBeginningOf(key: string): string {
  const kept = key.slice("rsk_dev_".length, "rsk_dev_".length + 30);
  for (;;) {
    const other = formatPlatformKey("dev", randomBytes(32));
    const body = `${kept}${other.slice("rsk_dev_".length + 30, "rsk_dev_".length + 43)}`;
    const random = Buffer.from(valueOf(body).toString(16).padStart(64, "0"), "hex");
    if (random.length === 32) return formatPlatformKey("dev", random);
  }
}
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
function valueOf(body: string): bigint {
  return Array.from(body).reduce(
    (value, letter) => value * 62n + BigInt(ALPHABET.indexOf(letter)),
    0n,
  );
}
const unknown = () => formatPlatformKey("dev", randomBytes(32));

async function ask(key: string) {
  const reply = await api.app.inject({
    url: "/api/me",
    headers: { authorization: `Bearer ${key}`, [PEER_HEADER]: "10.0.0.7" },
  });
  return { status: reply.statusCode, body: reply.body };
}

t.test("a key with the beginning of another is answered as any key that is unknown", async (t) => {
  const near = withBeginningOf(living[7]!);
  t.equal(near.slice(0, 38), living[7]!.slice(0, 38));
  t.not(near, living[7]);
  const first = await ask(near);
  t.match(first, { status: 401, body: /"code":"invalid_api_key"/ });
  t.same(first, await ask(unknown()));
  t.equal((await ask(living[7]!)).status, 200);
});

t.test("each is one look at an index of whole hashes", async (t) => {
  const { read } = api.database;
  const asked: string[] = [];
  const watched = new Proxy(read, {
    get: (target, name) =>
      name === "prepare"
        ? (sql: string) => {
            asked.push(sql);
            return target.prepare(sql);
          }
        : Reflect.get(target, name),
  });
  for (const key of [withBeginningOf(living[3]!), unknown()]) {
    asked.length = 0;
    t.equal(findCaller(watched, hashPlatformKey(key), 2), null);
    t.equal(asked.length, 1);
    const plan = read
      .prepare<[Buffer, number], { detail: string }>(`EXPLAIN QUERY PLAN ${asked[0]}`)
      .all(Buffer.alloc(32), 2);
    t.ok(
      plan.some(({ detail }) =>
        /SEARCH k USING INDEX sqlite_autoindex_platform_keys_\d \(hash=\?\)/.test(detail),
      ),
      plan.map(({ detail }) => detail).join("; "),
    );
  }
});

const ROUNDS = 9;
const WARM = 3;
const TREE = import.meta.resolve("../../../../");

/** Each block of this tree's code that answered most of these keys, with how often it ran: a timer may come between, and not each time. */
async function wayOf(keyOf: (round: number) => string): Promise<string[]> {
  const ways = new Map<string, number>();
  for (let round = 0; round < WARM + ROUNDS; round += 1) {
    const key = keyOf(round);
    await coverage.post("Profiler.takePreciseCoverage");
    await ask(key);
    // What is done once the answer is out is part of it.
    for (let turns = 0; turns < 4; turns += 1) await new Promise(setImmediate);
    const { result } = await coverage.post("Profiler.takePreciseCoverage");
    const way = result
      .filter(({ url }) => url.startsWith(TREE) && !url.includes("/node_modules/"))
      .filter(({ url }) => url !== import.meta.url)
      .flatMap(({ url, functions }) =>
        functions.flatMap(({ functionName, ranges }) =>
          ranges.map(
            ({ startOffset, endOffset, count }) =>
              `${url.slice(TREE.length)} ${functionName} ${startOffset}-${endOffset}: ${count}`,
          ),
        ),
      )
      .toSorted()
      .join("\n");
    if (round >= WARM) ways.set(way, (ways.get(way) ?? 0) + 1);
  }
  const [[most] = [""]] = [...ways].toSorted(([, a], [, b]) => b - a);
  return most.split("\n");
}

t.test("neither takes another way through the code, or a part of it more often", async (t) => {
  // A comparison that ends at the first difference, or a second look, would be one. Times would tell of it at times.
  const near = await wayOf((round) => withBeginningOf(living[round]!));
  const other = await wayOf(unknown);
  t.same(
    near.filter((block) => !other.includes(block)),
    [],
  );
  t.same(
    other.filter((block) => !near.includes(block)),
    [],
  );
  t.ok(
    near.some((block) =>
      block.startsWith("parts/coordinator/src/identity/key-store.ts findCaller "),
    ),
    "the look is seen",
  );
  t.notSame(await wayOf((round) => living[round]!), near, "another way would be seen");
  t.ok(
    api.audit.drafts.some(
      ({ type, detail }) =>
        type === "auth.failure" && (detail as { reason: string }).reason === "invalid_api_key",
    ),
    "guesses of one source are counted, and on record",
  );
});
