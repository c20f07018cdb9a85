/**
 * Shows each new checkpoint to the policy's witnesses, and hands back what they sign. A witness that is away, slow or wrong holds up nobody: each
 * has a loop of its own, which reads the newest checkpoint each time, so nothing piles up.
 */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { inOrder, isSlug, slugAfter, slugOf } from "@resontech/audit/format/shard/shard-plan";
import {
  parseCheckpoint,
  type SignedCheckpoint,
  verifiedTime,
} from "@resontech/audit/format/note/checkpoint";
import { LogReader } from "@resontech/audit/format/tree/log-reader";
import { parsePolicy, type Witness } from "@resontech/audit/format/note/policy";
import { formatNote, isLineOf } from "@resontech/audit/format/note/signed-note";
import { TileProofs } from "@resontech/audit/format/tree/tile-proofs";
import type { SeenTree } from "@resontech/audit/format/wire/frames";
import { HttpExchange } from "./http-exchange.ts";
import { SeenSizes } from "./seen-sizes.ts";

const POLL_MS = 250;
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** Shards that one after the other are heard of from witnesses alone. */
const MAX_ROUNDS = 8;
/** Shards that are told of, those nearest to what is here first: one that is gone is enough to be believed. */
const MAX_LEARNED = 32;
const SIZE = /^(0|[1-9][0-9]{0,15})\n$/;

export type WitnessClientOptions = {
  auditDir: string;
  policyFile: string;
  /** Written by this client alone; its folder must exist. */
  seenFile: string;
  /** PEM of who may have signed the certificates of `https:` witnesses; null: whom Node trusts. */
  caFile: string | null;
  /** Signature lines of a witness, unjudged, for the checkpoint of this size. When it rejects, the witness is asked again. */
  handBack: (origin: string, size: number, lines: string) => Promise<unknown>;
  log: Logger;
};

/** How it stands between one witness and one shard. */
type Stand = { handedSize: number; retryMs: number; notBeforeMs: number };

export class WitnessClient implements AsyncDisposable {
  readonly #options: WitnessClientOptions;
  readonly #exchange: HttpExchange;
  readonly #seen: SeenSizes;
  readonly #stop = new AbortController();
  readonly #stands = new Map<string, Stand>();
  readonly #loops = new Map<string, Promise<void>>();
  #following: Promise<void> | null = null;

  private constructor(options: WitnessClientOptions, exchange: HttpExchange, seen: SeenSizes) {
    this.#options = options;
    this.#exchange = exchange;
    this.#seen = seen;
  }

  static async open(options: WitnessClientOptions): Promise<WitnessClient> {
    const ca = options.caFile === null ? null : await readFile(options.caFile);
    return new WitnessClient(options, new HttpExchange(ca), await SeenSizes.open(options.seenFile));
  }

  /**
   * The largest tree of each shard that a witness says it cosigned, by its own signature: what auditd must hear before it signs. Asked afresh, because
   * whoever put the log back to an older state may have put back everything else on this host. What was heard by then counts, whoever is late.
   */
  async learn(withinMs: number): Promise<SeenTree[]> {
    const witnesses = await this.#witnesses();
    const largest = new Map<string, SeenTree>();
    const asked = new Set<string>();
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(withinMs)]);
    const ask = async (origin: string, round: number): Promise<void> => {
      if (asked.has(origin) || round === MAX_ROUNDS) return;
      asked.add(origin);
      const asking = [...witnesses].map(async ([url, its]) => {
        const tree = await this.#lastCosigned(url, origin, its, signal);
        if (tree === null) return;
        if (tree.size >= (largest.get(origin)?.size ?? 0)) largest.set(origin, tree);
        // Shards that the folder does not hold as well: it may have been put back from before they were begun, and the policy with it.
        await Promise.all(followersOf(origin).map((next) => ask(next, round + 1)));
      });
      await Promise.all(asking);
    };
    await Promise.all((await this.#origins()).map((origin) => ask(origin, 0)));
    return [...largest.values()].slice(0, MAX_LEARNED);
  }

  /** From now on every new checkpoint is shown. */
  follow(): void {
    this.#following ??= this.#follow();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#following;
    await Promise.all(this.#loops.values());
    this.#exchange[Symbol.dispose]();
  }

  async #follow(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        for (const url of (await this.#witnesses()).keys())
          if (!this.#loops.has(url)) this.#loops.set(url, this.#serve(url));
      } catch (error) {
        this.#options.log.warn({ err: error }, "the trust policy can't be read");
      }
      await this.#pause(MAX_RETRY_MS / 6);
    }
  }

  /** One witness's loop; ends when the policy no longer names it. */
  async #serve(url: string): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        if (!(await this.#witnesses()).has(url)) break;
        for (const head of await this.#heads()) await this.#bringUpToDate(url, head);
      } catch (error) {
        if (!this.#stop.signal.aborted)
          this.#options.log.warn({ err: error, witness: url }, "checkpoints can't be read");
      }
      await this.#pause(POLL_MS);
    }
    this.#loops.delete(url);
  }

  async #bringUpToDate(url: string, { checkpoint, note, logDir }: Head): Promise<void> {
    const { origin, size } = checkpoint;
    const key = `${url} ${origin}`;
    const stand = this.#stands.get(key) ?? {
      handedSize: -1,
      retryMs: FIRST_RETRY_MS,
      notBeforeMs: 0,
    };
    this.#stands.set(key, stand);
    if (stand.handedSize === size || performance.now() < stand.notBeforeMs) return;
    try {
      const lines = await this.#cosigned(url, checkpoint, note, logDir);
      await this.#options.handBack(origin, size, lines);
      Object.assign(stand, { handedSize: size, retryMs: FIRST_RETRY_MS, notBeforeMs: 0 });
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#options.log.warn(
        { err: error, witness: url, origin, size, retryMs: stand.retryMs },
        "not cosigned",
      );
      stand.notBeforeMs = performance.now() + stand.retryMs;
      stand.retryMs = Math.min(stand.retryMs * 2, MAX_RETRY_MS);
    }
  }

  /** @throws WitnessRefused, or what the network says */
  async #cosigned(
    url: string,
    checkpoint: SignedCheckpoint,
    note: string,
    logDir: string,
  ): Promise<string> {
    const { origin, size } = checkpoint;
    const proofs = new TileProofs(new LogReader(logDir), size);
    // The second time with the size that the witness answered the first time.
    for (const isLast of [false, true]) {
      // More is known where the log was put back to an older state: then the witness is asked what it says now.
      const known = Math.min(this.#seen.get(url, origin), size);
      const proof = (await proofs.consistency(known))
        .map((hash) => `${hash.toString("base64")}\n`)
        .join("");
      const body = `old ${known}\n${proof}\n${note}`;
      const answer = await this.#exchange.send(
        `${prefixOf(url)}/add-checkpoint`,
        body,
        this.#stop.signal,
      );
      if (answer.status === 200) {
        await this.#seen.set(url, origin, size);
        return answer.body;
      }
      const [, conflicting] = (answer.status === 409 && SIZE.exec(answer.body)) || [];
      if (conflicting === undefined || isLast)
        throw new WitnessRefused(answer.status, answer.body.slice(0, 200).trim());
      const claimed = Number(conflicting);
      // Nobody has signed this: it is believed for no longer than this answer. What a witness has signed, `learn` hears.
      if (claimed > size)
        throw new WitnessRefused(
          409,
          `the witness says it has seen ${claimed} leaves, and the log has ${size}`,
        );
      await this.#seen.set(url, origin, claimed);
    }
    throw new WitnessRefused(409, "the size of the witness changes");
  }

  /** Null when it has none, does not answer, or its own signature is not under it. */
  async #lastCosigned(
    url: string,
    origin: string,
    witnesses: readonly Witness[],
    signal: AbortSignal,
  ): Promise<SeenTree | null> {
    const hash = createHash("sha256").update(origin).digest("hex");
    const answer = await this.#exchange
      .send(`${prefixOf(url)}/${hash}/checkpoint`, null, signal)
      .catch(() => null);
    const checkpoint = answer?.status === 200 ? parseCheckpoint(answer.body) : null;
    if (checkpoint?.origin !== origin) return null;
    const isCosigned = checkpoint.signatures.some((line) =>
      witnesses.some(({ key }) => isLineOf(line, key) && verifiedTime(checkpoint, line, key)),
    );
    return isCosigned
      ? { origin, size: checkpoint.size, root: checkpoint.root.toString("hex"), by: "witness" }
      : null;
  }

  /** The policy's witnesses that have an address; the keys of one program share it. */
  async #witnesses(): Promise<Map<string, Witness[]>> {
    const byUrl = new Map<string, Witness[]>();
    for (const witness of parsePolicy(await readFile(this.#options.policyFile)).witnesses) {
      const { url } = witness;
      if (url !== null && /^https?:\/\//.test(url))
        byUrl.set(url, [...(byUrl.get(url) ?? []), witness]);
    }
    return byUrl;
  }

  /** Of shards that are here, that the policy lists, or that may follow the newest of them. */
  async #origins(): Promise<string[]> {
    const { logs } = parsePolicy(await readFile(this.#options.policyFile));
    const here = (await this.#heads()).map(({ checkpoint }) => checkpoint.origin);
    const origins = new Set(
      [...here, ...logs.map(({ name }) => name)].filter((origin) => isSlug(slugOf(origin))),
    );
    const [newest] = [...origins].sort((a, b) => inOrder(slugOf(b), slugOf(a)));
    return [...new Set([...origins, ...(newest === undefined ? [] : followersOf(newest))])];
  }

  /** The newest checkpoint of each shard: the last one of a shard that closed wants its cosignature too. */
  async #heads(): Promise<Head[]> {
    const slugs = (await readdir(this.#options.auditDir))
      .filter((name) => isSlug(name))
      .sort()
      .reverse();
    const heads = await Promise.all(
      slugs.map((slug) => readHead(join(this.#options.auditDir, slug))),
    );
    return heads.filter((head) => head !== null);
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}

/** The witness did not cosign; `status` is its answer's. */
export class WitnessRefused extends Error {
  override readonly name = "WitnessRefused";
  readonly code = "witness_refused";
  readonly status: number;

  constructor(status: number, message: string) {
    super(`${status}: ${message}`);
    this.status = status;
  }
}

/** `note`: with the log's own signatures. */
type Head = { checkpoint: SignedCheckpoint; note: string; logDir: string };

/** Reads the newest checkpoint; null while a shard is being made. It does not judge: a witness does that, and auditd what comes back. */
async function readHead(logDir: string): Promise<Head | null> {
  const note = await readFile(join(logDir, "checkpoint"), "utf8").catch(() => null);
  const checkpoint = note === null ? null : parseCheckpoint(note);
  if (checkpoint === null) return null;
  // Without what others have cosigned: a witness of another make may take no more than 16 lines.
  const { text, origin, signatures } = checkpoint;
  const own = signatures.filter(({ name }) => name === origin);
  return { checkpoint, note: formatNote({ text, signatures: own }), logDir };
}

/** What may follow a shard. */
function followersOf(origin: string): string[] {
  const slug = slugOf(origin);
  const before = origin.slice(0, -slug.length);
  const next = [slugAfter(slug, "year"), slugAfter(slug, "restore")].filter((one) => isSlug(one));
  return next.map((one) => before + one);
}

function prefixOf(url: string): string {
  return url.replace(/\/+$/, "");
}
