/** Who touched a job: its objects' entries of the real front, the real log and the real vault, as the coordinator names them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import t from "tap";
import { LogFollower } from "@resontech/audit-out/follow/log-follower";
import { Indexer } from "@resontech/audit-out/search/indexer";
import { buildSearchApp } from "@resontech/audit-out/search/search-app";
import { SearchIndex } from "@resontech/audit-out/search/search-index";
import { TokenFeed } from "@resontech/audit-out/search/token-feed";
import { until } from "@resontech/audit/testing/until";
import { erase } from "@resontech/vault/testing/privacy-requests";
import { VaultFixture } from "@resontech/vault/testing/vault-fixture";
import { S3ResponseError, type S3Transport } from "@resontech/coordinator/s3-transport";
import { RunningFront } from "./helper/running-front.ts";

type Row = {
  index: number;
  type: string;
  phase: string;
  outcome: string | null;
  sub: string;
  source: string | null;
};
type Question = { url: string; query?: Record<string, string>; method?: "POST"; payload?: object };
type Request = Parameters<S3Transport["send"]>[0];

const front = await RunningFront.create({ vault: true });
t.teardown(() => front[Symbol.asyncDispose]());
const vault = new VaultFixture(front.auditd.root);
await vault.start();
t.teardown(() => vault.stop("SIGKILL"));

const silent = pino({ level: "silent" });
const stateDir = join(front.dir, "search");
mkdirSync(stateDir);
const { auditDir, policyFile } = front.auditd.config;
const follower = new LogFollower({ auditDir, policyFile, stateDir, pollMs: 20 }, silent);
const index = new SearchIndex(stateDir, () => {});
const indexer = new Indexer(index, follower, stateDir, silent);
const tokens = new TokenFeed(vault.config.tokensSocket, index, follower, silent);
const search = buildSearchApp({
  index,
  indexer,
  follower,
  tokens,
  log: silent,
  statusOfParts: () => ({}),
});
t.teardown(async () => {
  await search.close();
  await tokens[Symbol.asyncDispose]();
  await indexer[Symbol.asyncDispose]();
  await follower[Symbol.asyncDispose]();
  index[Symbol.dispose]();
});
await follower.start();

async function answered(request: Question): Promise<Row[]> {
  const { statusCode, body } = await search.inject(request);
  if (statusCode !== 200) throw new Error(body);
  return (JSON.parse(body) as { events: Row[] }).events;
}

const touched = (folders: string[], paths: string[] = [], sub?: string): Promise<Row[]> => {
  const query = { order: "oldest", limit: 1_000, ...(sub === undefined ? {} : { sub }) };
  return answered({ method: "POST", url: "/events", payload: { query, folders, paths } });
};

/** Once everything that the log has can be found. */
async function settled(): Promise<void> {
  const { length } = await front.leaves();
  await until(async () => {
    const { sealed } = await vault.status();
    return (
      indexer.behind === 0 &&
      index.sizeOf(follower.shards.at(-1)!.slug) >= length &&
      tokens.behind === 0 &&
      sealed > 0
    );
  }, 30_000);
}

const brief = ({ type, phase, outcome, sub }: Row): string =>
  [type, phase, outcome ?? "-", sub].join(" ");
async function codeOf(transport: S3Transport, request: Request): Promise<string> {
  try {
    await transport.send(request);
    return "ok";
  } catch (error) {
    if (error instanceof S3ResponseError) return error.code;
    throw error;
  }
}

t.test(
  "reads, writes, deletes and refusals below a job's folder are found with who and how, and nothing beside it",
  async (t) => {
    const [owner, stranger] = [await front.addUser(), await front.addUser()];
    const own = front.transportOf(owner.keys);
    const { bucket, userId } = owner;
    const key = "jobs/study/shards/0.zip";
    const path = [bucket, key];
    t.equal(await codeOf(own, { method: "PUT", path, body: "rows" }), "ok");
    t.equal(
      await codeOf(own, {
        method: "PUT",
        path: [bucket, "jobs/study-2/shards/0.zip"],
        body: "beside",
      }),
      "ok",
    );
    t.equal(await codeOf(own, { method: "GET", path }), "ok");
    t.equal(
      await codeOf(own, { method: "GET", path: [bucket, "jobs/study/never-there"] }),
      "NoSuchKey",
    );
    t.equal(
      await codeOf(front.transportOf(stranger.keys), { method: "GET", path }),
      "AccessDenied",
    );
    t.equal(
      await codeOf(front.transportOf(stranger.keys), { method: "PUT", path, body: "forged" }),
      "AccessDenied",
    );
    t.equal(await codeOf(own, { method: "DELETE", path }), "ok");
    await settled();

    const rows = await touched([`${bucket}/jobs/study/`]);
    t.same(rows.map(brief), [
      // Who it is has the engine to prove: the first entry of a change does not know yet.
      ...["data.object.write requested - unproven", `data.object.write completed ok ${userId}`],
      ...[`data.object.read fact ok ${userId}`, `data.object.read fact NoSuchKey ${userId}`],
      `data.object.refused fact AccessDenied ${stranger.userId}`,
      "data.object.refused fact AccessDenied unproven",
      ...["data.object.delete requested - unproven", `data.object.delete completed ok ${userId}`],
    ]);
    const sources = new Set(rows.map(({ source }) => source).filter((source) => source !== null));
    t.equal(sources.size, 1, "all came from one address");
    t.match([...sources][0], /^[0-9a-f]{12}$/);

    const byPath = await touched([], [`${bucket}/${key}`]);
    t.same(
      byPath.map(({ index }) => index),
      rows.filter(({ outcome }) => outcome !== "NoSuchKey").map(({ index }) => index),
    );
    t.same(
      (
        await answered({
          url: "/events",
          query: { below: `${bucket}/jobs/study/`, order: "oldest" },
        })
      ).map(brief),
      rows.map(brief),
    );
    t.same(
      await answered({ url: "/events", query: { holds: `object.id=${bucket}/jobs/study/` } }),
      [],
      "a folder is no object",
    );
    t.same(
      await touched([`${bucket}/jobs/stud/`, `${bucket}/jobs/study/shards/0.zip/`]),
      [],
      "nor is a part of a name one",
    );
    t.equal(
      (await touched([`${bucket}/jobs/study/`], [], stranger.userId)).length,
      1,
      "bounded to whom somebody may see",
    );

    t.test(
      "of a person whose values were erased nothing is found by the folder any more",
      async (t) => {
        t.match(await vault.ask(erase(stranger.userId)), { confirmed: true });
        const left = rows.filter(({ outcome }) => outcome !== "AccessDenied").map(brief);
        await until(async () => (await touched([`${bucket}/jobs/study/`])).length === left.length);
        t.same(
          (await touched([`${bucket}/jobs/study/`])).map(brief),
          left,
          "nor where he only claimed to be himself",
        );
        t.match(await vault.ask(erase(userId)), { confirmed: true });
        await until(async () => (await touched([`${bucket}/jobs/study/`])).length === 0);
      },
    );
  },
);
