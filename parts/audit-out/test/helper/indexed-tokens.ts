/** A search index with tokens, and a vault that tells what it destroyed as far as a test lets it. */
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { Logger } from "pino";
import type { Test } from "tap";
import type { LogFollower } from "../../src/follow/log-follower.ts";
import { SearchIndex } from "../../src/search/search-index.ts";
import { TokenFeed } from "../../src/search/token-feed.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { silent } from "./silent.ts";

/** Names the key of the vault's that made the tokens. */
const TOKEN_KEY = "k";

/** Of an entry that is about nobody. */
export const UNMARKED = { isRefused: false, isByAdministrator: false, approval: null, marks: [] };

/** One entry with a token of two fields of its own each. @param object of each entry: the longer, the larger the file */
export function withTokens(
  stateDir: string,
  entries: number,
  object = "usr-1",
): { index: SearchIndex; tokens: { addr: string; agent: string }[] } {
  const index = new SearchIndex(stateDir, () => {});
  index.beginTokens(TOKEN_KEY);
  const names = {
    type: "key.list",
    prod: "coordinator-gate",
    phase: "fact",
    sub: "usr-1",
    kind: "user",
    object,
  };
  const row = () => ({
    ...{ ...names, ...UNMARKED, atMs: 0, op: randomUUID() },
    ...{ onBehalfOf: null, outcome: null },
  });
  index.add("2026", 0, Array.from({ length: entries }, row));
  const tokens = Array.from({ length: entries }, () => ({
    addr: randomBytes(16).toString("hex"),
    agent: randomBytes(16).toString("hex"),
  }));
  const lines = tokens.flatMap(({ addr, agent }, at) => [
    { index: at, field: "src.addr", token: addr },
    { index: at, field: "src.agent", token: agent },
  ]);
  index.addTokens(
    "2026",
    { after: { index: -1, field: "" }, at: { index: entries - 1, field: "src.agent" } },
    lines,
  );
  return { index, tokens };
}

export const found = (index: SearchIndex, token: string): number[] =>
  index
    .find({ tokens: [[token]], order: "oldest" }, index.spanOf("2026", { order: "oldest" })!, 10)
    .map((event) => event.index);

/** Files that hold the bytes of a token. */
export const holding = (folder: string, token: string): string[] =>
  readdirSync(folder).filter((file) =>
    readFileSync(join(folder, file)).includes(Buffer.from(token, "hex")),
  );

/** A vault with one act, which it tells as far as it is let: what it says last can be held back, or cut off. */
export class HaltingVault {
  readonly socketPath: string;
  readonly #server: Server;
  readonly #held = new Set<ServerResponse>();
  isHolding = true;

  /** @param lines what the act destroyed */
  constructor(t: Test, lines: () => Iterable<{ index: number; field: string }>) {
    this.socketPath = join(temporaryFolder(t), "vault.sock");
    this.#server = createServer((request, response) => {
      response.on("error", () => {});
      // Whoever asked may hang up.
      this.#answer(request, response, lines).catch(() => {});
    }).listen(this.socketPath);
    t.teardown(() => this.#server.close());
  }

  hangUp(): void {
    for (const response of this.#held) response.destroy();
    this.#held.clear();
  }

  async #answer(
    request: IncomingMessage,
    response: ServerResponse,
    lines: () => Iterable<{ index: number; field: string }>,
  ): Promise<void> {
    const { after } = JSON.parse(await text(request)) as { after: number };
    const end = (end: object): void => void response.end(`${JSON.stringify({ end })}\n`);
    response.writeHead(200, { connection: "close" });
    if (request.url === "/tokens") return end({ more: false, at: null, key: TOKEN_KEY });
    if (after > 0) return end({ act: null, life: "a" });
    for (const line of lines())
      if (!response.write(`${JSON.stringify({ origin: "box.audit.acme/2026", ...line })}\n`))
        await once(response, "drain");
    if (this.isHolding) this.#held.add(response);
    else end({ act: 1, life: "a" });
  }
}

export function feedFrom(
  t: Test,
  vault: HaltingVault,
  index: SearchIndex,
  log: Logger = silent,
): TokenFeed {
  const shards = [{ slug: "2026", origin: "box.audit.acme/2026" }];
  const follower = { shards, entriesFrom: () => 0 } as unknown as LogFollower; // The log itself has no part in it.
  const feed = new TokenFeed(vault.socketPath, index, follower, log);
  t.teardown(async () => {
    const stopped = feed[Symbol.asyncDispose]();
    vault.hangUp();
    await stopped;
  });
  return feed;
}
