/** Keeps tokens of values in the search index as the vault has them: new ones are added, those of what was destroyed are taken out. */
import { setTimeout as pause } from "node:timers/promises";
import {
  type ErasedEnd,
  type ErasedLine,
  MAX_TOKENS_PAGE,
  type TokenLine,
  type TokensEnd,
  type VaultTokensRequest,
} from "@resontech/contracts/vault-tokens";
import { askLines } from "@resontech/frame/ask-lines";
import type { Logger } from "pino";
import { NoRoomToScrub, reasonOf } from "@resontech/audit/scrub/scrub-room";
import { inOrder } from "@resontech/audit/format/shard/shard-plan";
import type { LogFollower } from "../follow/log-follower.ts";
import type { Position } from "../follow/position.ts";
import { SearchError } from "./search-error.ts";
import type { FieldOfEntry, SearchIndex } from "./search-index.ts";

const LOOK_MS = 1_000;
/** Of an act, which may have destroyed millions: so much is in memory. */
const DROPPED_AT_ONCE = 1_000;
/** After a copy that failed: each try costs as much as one that succeeds. Whether there is room for one is looked at each time. */
const SCRUB_AGAIN_MS = 600_000;
/** The vault may be destroying something. */
const SILENCE_MS = 60_000;
/** Somebody waits. */
const TOKEN_SILENCE_MS = 3_000;

export class TokenFeed implements AsyncDisposable {
  readonly #socketPath: string;
  readonly #index: SearchIndex;
  readonly #follower: LogFollower;
  readonly #log: Logger;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** Every value of an entry before this one that the vault had sealed was asked for; null until all were, once. */
  #coveredTo: Position | null = null;
  #fault: Error | null = null;
  /** Dropped up to this act; the index notes it once the file was made anew. A later life asks for those in between again. */
  #dropped: { life: string; act: number } | null = null;
  #failed: { error: unknown; untilMs: number } | null = null;

  constructor(socketPath: string, index: SearchIndex, follower: LogFollower, log: Logger) {
    this.#socketPath = socketPath;
    this.#index = index;
    this.#follower = follower;
    this.#log = log;
    this.#running = this.#run();
  }

  /** Entries that can't be found by a value yet. */
  get behind(): number {
    return this.#follower.entriesFrom(this.#coveredTo);
  }

  /** Why the vault was not heard, or why what it destroyed still stands in the file; null while neither is so. */
  get fault(): string | null {
    return this.#fault?.message ?? null;
  }

  /** What stands in the index for a value of this field. @throws SearchError `vault_unavailable` */
  async tokenOf(field: string, value: string): Promise<string> {
    try {
      for await (const line of this.#ask({ verb: "token", field, value }, TOKEN_SILENCE_MS))
        return (line as { token: string }).token;
    } catch (cause) {
      throw new SearchError(
        "vault_unavailable",
        `the vault, which looks values up, does not answer: ${messageOf(cause)}`,
      );
    }
    throw new SearchError("vault_unavailable", "the vault, which looks values up, hung up");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#takeNew();
        await this.#dropDestroyed();
        this.#fault = null;
      } catch (error) {
        const fault =
          error instanceof Error ? error : new Error(messageOf(error), { cause: error });
        const isKnown = this.#fault !== null && reasonOf(fault) === reasonOf(this.#fault);
        if (!signal.aborted && !isKnown)
          this.#log.warn({ err: fault }, "the index's tokens are not yet as the vault has them");
        this.#fault = fault;
      }
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #takeNew(): Promise<void> {
    // What is indexed later is asked for the next time.
    const indexed = this.#index.position;
    const shards = this.#follower.shards.toSorted((a, b) => inOrder(a.slug, b.slug));
    for (const { slug, origin } of shards) {
      const before = this.#index.sizeOf(slug);
      for (let more = before > 0; more && !this.#stop.signal.aborted; ) {
        const after = this.#index.tokenPlaceOf(slug);
        const lines: TokenLine[] = [];
        let end: TokensEnd["end"] | null = null;
        for await (const line of this.#ask({
          verb: "tokens",
          origin,
          after,
          before,
          limit: MAX_TOKENS_PAGE,
        })) {
          if ("end" in line) ({ end } = line as TokensEnd);
          else lines.push(line as TokenLine);
        }
        if (end === null) throw new Error("the vault hung up");
        if (end.key !== this.#index.tokenKey) {
          this.#index.beginTokens(end.key);
          this.#coveredTo = null;
          this.#dropped = null;
          // Shards that were asked for before this one, too.
          return await this.#takeNew();
        }
        if (end.at !== null) this.#index.addTokens(slug, { after, at: end.at }, lines);
        ({ more } = end);
      }
    }
    if (!this.#stop.signal.aborted) this.#coveredTo = indexed;
  }

  /** All acts that are not noted; only then is the file made anew, once, and only then are they noted. */
  async #dropDestroyed(): Promise<void> {
    const noted = this.#index.tokenAct;
    let known = this.#dropped ?? noted;
    for (;;) {
      const { act, life } = await this.#dropNextAct(known.act);
      // Another database of the vault's, an older one put back: its acts are numbered otherwise, so all of them are asked for.
      const isOther = life !== known.life && known.act > 0;
      known = { life, act: isOther ? 0 : (act ?? known.act) };
      this.#dropped = known;
      if (act === null && !isOther) break;
    }
    if (this.#index.hasRemnants) await this.#scrub();
    if (known.life !== noted.life || known.act !== noted.act) this.#index.endTokenAct(known);
  }

  /** @throws NoRoomToScrub; what made the last copy fail, also while it is too early to try again */
  async #scrub(): Promise<void> {
    const failed = this.#failed;
    if (failed !== null && performance.now() < failed.untilMs) throw failed.error;
    try {
      await this.#index.scrub();
      this.#failed = null;
    } catch (error) {
      if (error instanceof NoRoomToScrub) throw error;
      this.#failed = { error, untilMs: performance.now() + SCRUB_AGAIN_MS };
      throw error;
    }
  }

  /** What it is told goes at once: it is destroyed, whichever act it was. An act whose end is not told is asked for again. */
  async #dropNextAct(after: number): Promise<ErasedEnd["end"]> {
    const slugs = new Map(this.#follower.shards.map(({ slug, origin }) => [origin, slug]));
    let fields: FieldOfEntry[] = [];
    for await (const line of this.#ask({ verb: "erased", after })) {
      const isEnd = "end" in line;
      if (!isEnd) {
        const { origin, index, field } = line as ErasedLine;
        const slug = slugs.get(origin);
        if (slug !== undefined) fields.push({ slug, index, field });
      }
      if (isEnd || fields.length === DROPPED_AT_ONCE) {
        this.#index.dropTokens(fields);
        fields = [];
      }
      if (isEnd) return (line as ErasedEnd).end;
    }
    throw new Error("the vault hung up");
  }

  async *#ask(request: VaultTokensRequest, silenceMs = SILENCE_MS): AsyncGenerator<object> {
    yield* askLines(this.#socketPath, request, silenceMs);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
