import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import Database from "better-sqlite3";
import t, { type Test } from "tap";
import { LogFollower } from "../src/follow/log-follower.ts";
import { Indexer, rebuildMark } from "../src/search/indexer.ts";
import { buildSearchApp } from "../src/search/search-app.ts";
import { SearchIndex } from "../src/search/search-index.ts";
import { TokenFeed } from "../src/search/token-feed.ts";
import type { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { erase } from "@resontech/vault/testing/privacy-requests";
import { filesHolding } from "@resontech/vault/testing/files-holding";
import { gateOf, startedBoth } from "@resontech/vault/testing/started-both";
import { say } from "@resontech/vault/testing/say";
import type { VaultFixture } from "@resontech/vault/testing/vault-fixture";
import { silent } from "./helper/silent.ts";
import { inHundreds } from "@resontech/audit/testing/in-hundreds";
import { until } from "@resontech/audit/testing/until";
import { feedFrom, found, HaltingVault, holding, withTokens } from "./helper/indexed-tokens.ts";

type Reply = { statusCode: number; indices: number[]; behind: number; code?: string };

/** The search of a real log beside a real vault. */
class SearchByValue {
  readonly stateDir: string;
  readonly feed: TokenFeed;
  readonly #app: ReturnType<typeof buildSearchApp>;

  constructor(t: Test, auditd: AuditdFixture, vault: VaultFixture) {
    this.stateDir = join(vault.root, "audit-out");
    mkdirSync(this.stateDir);
    const { auditDir, policyFile } = auditd.config;
    const follower = new LogFollower(
      { auditDir, policyFile, stateDir: this.stateDir, pollMs: 20 },
      silent,
    );
    const index = new SearchIndex(this.stateDir, () => {});
    const indexer = new Indexer(index, follower, this.stateDir, silent);
    this.feed = new TokenFeed(vault.config.tokensSocket, index, follower, silent);
    this.#app = buildSearchApp({
      index,
      indexer,
      follower,
      tokens: this.feed,
      log: silent,
      statusOfParts: () => ({}),
    });
    t.teardown(async () => {
      await this.#app.close();
      await this.feed[Symbol.asyncDispose]();
      await indexer[Symbol.asyncDispose]();
      await follower[Symbol.asyncDispose]();
      index[Symbol.dispose]();
    });
    void follower.start();
  }

  /** As an operator asks for it. */
  async rebuild(): Promise<void> {
    const mark = rebuildMark(this.stateDir);
    writeFileSync(mark, "");
    await until(() => !existsSync(mark));
  }

  async search(query: Record<string, string>): Promise<Reply> {
    const { statusCode, body } = await this.#app.inject({ url: "/events", query });
    const { events = [], ...rest } = JSON.parse(body) as {
      events?: { index: number }[];
      behind: number;
      code?: string;
    };
    return { statusCode, indices: events.map(({ index }) => index), ...rest };
  }

  /** As soon as these are found. */
  async finds(query: Record<string, string>, indices: readonly number[]): Promise<void> {
    await until(
      async () => JSON.stringify((await this.search(query)).indices) === JSON.stringify(indices),
    );
  }
}

t.test(
  "entries are found by a value that they keep sealed, and by nothing else that is like it",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const first = await say(gate, "usr-1", "10.0.0.1");
    const other = await say(gate, "usr-2", "10.0.0.2");
    const second = await say(gate, "usr-2", "10.0.0.1");
    const search = new SearchByValue(t, auditd, vault);
    await search.finds({ holds: "src.addr=10.0.0.1" }, [second.index, first.index]);
    t.same(
      (await search.search({ holds: "src.addr=10.0.0.1", order: "oldest", limit: "1" })).indices,
      [first.index],
    );
    t.same((await search.search({ holds: "src.addr=10.0.0.1", sub: "usr-2" })).indices, [
      second.index,
    ]);
    t.same(
      (await search.search({ holds: "src.addr=10.0.0.1", actor: "usr-1", type: "key.list" }))
        .indices,
      [first.index],
    );
    t.same((await search.search({ holds: "src.addr=10.0.0.1", type: "job.submit" })).indices, []);
    t.same((await search.search({ holds: "src.agent=10.0.0.1" })).indices, []);
    t.same((await search.search({ holds: "src.addr=10.0.0." })).indices, []);
    t.same((await search.search({ holds: "src.addr=10.0.0.2" })).indices, [other.index]);
    t.match(await search.search({ holds: "10.0.0.2" }), { statusCode: 400, code: "query_invalid" });
    const holding = (value: string) => filesHolding(search.stateDir, value);
    t.same(
      [...holding("10.0.0.1"), ...holding("10.0.0.2"), ...holding(first.salt)],
      [],
      "the index holds no value",
    );
  },
);

t.test("what was erased is found no more, also in an index that is made anew", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  const gone = await say(gate, "usr-1", "10.0.0.1");
  const kept = await say(gate, "usr-2", "10.0.0.1");
  const search = new SearchByValue(t, auditd, vault);
  const query = { holds: "src.addr=10.0.0.1" };
  await search.finds(query, [kept.index, gone.index]);
  t.match(await vault.ask(erase("usr-1")), { confirmed: true });
  await search.finds(query, [kept.index]);
  const later = await say(gate, "usr-2", "10.0.0.1");
  await search.finds(query, [later.index, kept.index]);
  await search.rebuild();
  await search.finds(query, [later.index, kept.index]);
});

t.test(
  "more values than a page holds are all found, and what is said while the vault is away is found later",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const said = await inHundreds(1_200, (at) => say(gate, `usr-${at % 7}`, `10.1.0.${at % 3}`));
    const search = new SearchByValue(t, auditd, vault);
    const indicesOf = (value: string): number[] =>
      said
        .filter((one) => one.value === value)
        .map(({ index }) => index)
        .sort((a, b) => a - b);
    for (const value of ["10.1.0.0", "10.1.0.1", "10.1.0.2"])
      await search.finds(
        { holds: `src.addr=${value}`, order: "oldest", limit: "1000" },
        indicesOf(value),
      );
    await vault.stop();
    const late = await say(gate, "usr-1", "10.2.0.1");
    t.match(await search.search({ holds: "src.addr=10.2.0.1" }), {
      statusCode: 503,
      code: "vault_unavailable",
    });
    await until(() => search.feed.fault !== null);
    t.ok(search.feed.behind > 0, "what is not known yet is told");
    await vault.start();
    await search.finds({ holds: "src.addr=10.2.0.1" }, [late.index]);
    await until(() => search.feed.fault === null);
  },
);

t.test(
  "a vault whose database was put back numbers its acts anew, and all of them are asked for",
  async (t) => {
    const [auditd, vault] = await startedBoth(t);
    await using gate = await gateOf(auditd);
    const first = await say(gate, "usr-1", "10.0.0.1");
    const second = await say(gate, "usr-2", "10.0.0.1");
    await until(async () => (await vault.status()).sealed === 2);
    const database = join(vault.config.dataDir, "sealed.sqlite");
    await vault.stop();
    const before = readFileSync(database);
    await vault.start();
    const search = new SearchByValue(t, auditd, vault);
    const query = { holds: "src.addr=10.0.0.1" };
    await search.finds(query, [second.index, first.index]);
    t.match(await vault.ask(erase("usr-1")), { confirmed: true });
    await search.finds(query, [second.index]);
    await vault.stop();
    writeFileSync(database, before);
    await vault.start();
    await until(async () => (await vault.status()).connected);
    t.match(
      await vault.ask({
        verb: "confirm-holds",
        requester: "usr-law",
        approvers: ["usr-a", "usr-b"],
      }),
      { holds: 0 },
    );
    await until(async () => (await vault.ask(erase("usr-2")))["confirmed"] === true);
    await search.finds(query, []);
  },
);

t.test("a vault that has lost its key of tokens has the index begin anew", async (t) => {
  const [auditd, vault] = await startedBoth(t);
  await using gate = await gateOf(auditd);
  const first = await say(gate, "usr-1", "10.0.0.1");
  const search = new SearchByValue(t, auditd, vault);
  const query = { holds: "src.addr=10.0.0.1" };
  await search.finds(query, [first.index]);
  await vault.stop();
  const keys = new Database(join(vault.config.keysDir, "keys.sqlite"));
  keys.prepare("DELETE FROM meta WHERE name = 'token-key'").run();
  keys.close();
  await vault.start();
  await search.finds(query, [first.index]);
});

t.test(
  "a field that was erased goes, in every byte; another field of the same entry is found on",
  async (t) => {
    const folder = temporaryFolder(t);
    const { index, tokens } = withTokens(folder, 2);
    t.teardown(() => index[Symbol.dispose]());
    const [{ addr, agent }] = tokens as [{ addr: string; agent: string }];
    t.not(holding(folder, addr).length, 0);
    index.dropTokens([{ slug: "2026", index: 0, field: "src.addr" }]);
    await index.scrub();
    t.same(found(index, addr), []);
    t.same(found(index, agent), [0]);
    t.same(holding(folder, addr), []);
  },
);

t.test(
  "what was dropped by a life that was killed before the file was made anew is known to the next one, and goes then",
  async (t) => {
    const folder = temporaryFolder(t);
    const { index, tokens } = withTokens(folder, 200);
    // Somebody who reads keeps the log of changes from being emptied, as a kill at that moment does.
    const reader = new Database(join(folder, "search.sqlite"), { readonly: true });
    reader.exec("BEGIN");
    reader.prepare("SELECT count(*) FROM tokens").get();
    index.dropTokens(tokens.map((_, at) => ({ slug: "2026", index: at, field: "src.addr" })));
    const killed = temporaryFolder(t);
    for (const file of ["search.sqlite", "search.sqlite-wal"])
      cpSync(join(folder, file), join(killed, file));
    reader.close();
    index[Symbol.dispose]();
    t.ok(
      tokens.some(({ addr }) => holding(killed, addr).length > 0),
      "it still stands there",
    );
    using next = new SearchIndex(killed, (reason) => t.fail(reason));
    t.ok(next.hasRemnants);
    await next.scrub();
    t.notOk(next.hasRemnants);
    t.same(
      tokens.flatMap(({ addr }) => holding(killed, addr)),
      [],
    );
    t.same(found(next, tokens[7]!.agent), [7]);
  },
);

t.test(
  "of many tokens that came and went between others no byte is left, and searches go on while the file is made anew",
  async (t) => {
    const folder = temporaryFolder(t);
    const { index, tokens } = withTokens(folder, 6_000);
    t.teardown(() => index[Symbol.dispose]());
    const gone = tokens.map((_, at) => at).filter((at) => at % 8 < 4);
    for (const part of [0, 1, 2, 3])
      index.dropTokens(
        gone
          .filter((at) => at % 8 === part)
          .map((at) => ({ slug: "2026", index: at, field: "src.addr" })),
      );
    const scrubbed = index.scrub();
    let looks = 0;
    const looking = setInterval(() => {
      looks += found(index, tokens[7]!.addr).length;
    }, 1);
    await scrubbed;
    clearInterval(looking);
    t.ok(looks > 1, `${looks} searches`);
    const files = readdirSync(folder).map((file) => readFileSync(join(folder, file)));
    const left = gone.filter((at) =>
      files.some((bytes) => bytes.includes(Buffer.from(tokens[at]!.addr, "hex"))),
    );
    t.same(
      left,
      [],
      "deleted rows alone would leave some: SQLite moves rows, and overwrites only what it deletes",
    );
    t.same(found(index, tokens[4]!.addr), [4]);
    t.same(found(index, tokens[0]!.agent), [0]);
  },
);

t.test(
  "what a long act destroyed goes as it is told, and all of it is asked for again where the vault hangs up before its end",
  async (t) => {
    const folder = temporaryFolder(t);
    const { index, tokens } = withTokens(folder, 2_500);
    t.teardown(() => index[Symbol.dispose]());
    const vault = new HaltingVault(t, () =>
      tokens.map((_, at) => ({ index: at, field: "src.addr" })),
    );
    feedFrom(t, vault, index);
    await until(() => found(index, tokens[1_999]!.addr).length === 0);
    t.same(found(index, tokens[2_499]!.addr), [2_499], "its end is not told yet");
    t.same(index.tokenAct, { life: "", act: 0 }, "nor is it noted");
    vault.isHolding = false;
    vault.hangUp();
    await until(() => index.tokenAct.act === 1);
    t.same(
      tokens.flatMap(({ addr }) => found(index, addr)),
      [],
    );
    t.same(found(index, tokens[0]!.agent), [0]);
    t.same(
      tokens.slice(0, 20).flatMap(({ addr }) => holding(folder, addr)),
      [],
      "in every byte",
    );
  },
);

t.test("however much an act destroyed, no more than a page of it is in memory", async (t) => {
  const LINES = 200_000;
  const folder = temporaryFolder(t);
  const { index, tokens } = withTokens(folder, 1);
  t.teardown(() => index[Symbol.dispose]());
  const vault = new HaltingVault(t, function* () {
    // Of entries that have no token here; that of the last one's shows that all of them were taken.
    for (let at = 1; at < LINES; at += 1) yield { index: at, field: "src.addr" };
    yield { index: 0, field: "src.addr" };
  });
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapMiB = (): number => {
    collect();
    return process.memoryUsage().heapUsed / 1_048_576;
  };
  const before = heapMiB();
  feedFrom(t, vault, index);
  await until(() => found(index, tokens[0]!.addr).length === 0, 60_000);
  // The act has no end yet: what it holds stays, however often garbage is collected. One collection does not find all garbage.
  let grown = Infinity;
  await until(() => (grown = heapMiB() - before) < 8, 60_000).catch(() => undefined);
  t.ok(grown < 8, `${grown.toFixed(1)} MiB for ${LINES} places`);
});
