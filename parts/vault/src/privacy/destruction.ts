/**
 * Takes an act that destroys to its end, from wherever its row says that it is: by whom it was begun, or by a later life of the process.
 *
 * What is destroyed is remembered, in memory alone, to be looked for afterwards. A life that was killed in between has forgotten it, and says so: its
 * fact looked for nothing. Until when copies can be opened is written down before the first key goes, and what goes is never asked about again.
 */
import { setImmediate as breath } from "node:timers/promises";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import { HOLDS_IN_DOUBT } from "../decisions/approval.ts";
import { AuditRejected } from "@resontech/audit/producer";
import { UnsealError } from "../keys/aead.ts";
import type { KeyName } from "../keys/key-table.ts";
import type { VaultParts } from "../parts.ts";
import { MAX_STATED_SHARDS, statable } from "../decisions/statable.ts";
import { VaultRefused } from "../vault-refused.ts";
import type { Act } from "../record/acts.ts";
import { type ErasedOfShard, statementOf } from "./commitments-root.ts";
import { erasedBy } from "./erased-by.ts";
import { filesWith, Needles } from "./find-bytes.ts";
import { type OperationDraft, outcomeOf } from "../record/on-record.ts";
import { unsealValue } from "./sealed-value.ts";

/** Of a sealed value, so much is looked for: its nonce and what follows. */
const SEALED_PREFIX_BYTES = 32;
/** Some 45 MB of memory. The keys come first, then so many values as there is room for; the fact says how many it was. */
const MAX_NEEDLES = 100_000;
/** Between two such steps others are heard. */
const ROWS_AT_ONCE = 5_000;

/** In an act's result, beside what its outcome says: there was more than it could tell of. */
const LEFT = "left";

/** Shards of which the log does not say, or says otherwise, what an act destroyed. */
const UNSTATED = "unstated";

/** What the log says of an act: the detail of its outcome, and whether its fact is still to follow. */
export type Logged = { detail: Record<string, unknown>; awaitsFact: boolean };

/** Whether its outcome, which the log has, says what it destroyed of this shard. */
export function isStated({ result }: Act, origin: string): boolean {
  return !((result?.[UNSTATED] ?? []) as string[]).includes(origin);
}

/** Whether another act must follow for the rest of what was asked for. */
export function hasLeft({ result }: Act): boolean {
  return result?.[LEFT] === true;
}

export type Destroying = {
  draft: OperationDraft;
  /** Asked once the spool is drained, and never again: what is decided is gone through with, as far as one outcome can tell of it. @throws VaultRefused when something came in between */
  names: () => KeyName[];
  /** Beyond `erased` and `final_after`, in the outcome. */
  detail: () => Record<string, unknown>;
  /** The fact that follows once nothing was found; null for none. */
  confirmation: ((lookedFor: number) => EventDraft) | null;
};

export class Destruction {
  readonly #parts: VaultParts;
  readonly #needles = new Map<string, Needles>();

  constructor(parts: VaultParts) {
    this.#parts = parts;
  }

  /** @returns the act as it then is. @throws AuditUnavailable while auditd is away: it is taken on later; VaultRefused */
  goOn(op: string, destroying: Destroying): Promise<Act> {
    return this.#parts.turns.run(async () => {
      const { acts } = this.#parts;
      if (acts.get(op).state === "requested") await this.#decide(op, destroying);
      if (acts.get(op).state === "destroying") await this.#destroy(op, destroying);
      if (acts.get(op).state === "destroyed") await this.#state(op, destroying);
      if (acts.get(op).state === "completed") await this.#confirm(op, destroying);
      return acts.get(op);
    });
  }

  /** What one act may take of these; what is left is another's. */
  statable(names: readonly KeyName[]): KeyName[] {
    return statable(names, (name) => this.#parts.store.shardsOf(name, MAX_STATED_SHARDS + 1));
  }

  /**
   * What the log says an act destroyed goes once more, of a database that was put back to before; no outcome is said. In its turn, before anything
   * else is sealed.
   * @param names all that it was about, as far as it is here
   * @param logged the detail of its outcome; `erased` of a shard that is not what went here is not told of any more
   */
  async again(
    op: string,
    destroying: Destroying,
    names: () => KeyName[],
    logged: Logged,
  ): Promise<void> {
    const { acts, scrub } = this.#parts;
    const { state } = acts.get(op);
    if (state === "asked" || state === "requested")
      acts.advance(op, "destroying", {
        also: () => {
          acts.doom(op, this.statable(names()));
          const { erased: _erased, ...detail } = logged.detail;
          return { ...acts.get(op).result, ...detail };
        },
      });
    if (acts.get(op).state === "destroying")
      await this.#destroy(
        op,
        logged.awaitsFact ? destroying : { ...destroying, confirmation: null },
      );
    await scrub();
    const { result } = acts.get(op);
    const unstated = unstatedShards((result?.["erased"] ?? []) as ErasedOfShard[], logged.detail);
    acts.advance(op, logged.awaitsFact ? "completed" : "done", {
      result: { ...result, [UNSTATED]: unstated },
    });
  }

  async #decide(op: string, { draft, names, detail }: Destroying): Promise<void> {
    const { acts, outbox, intake, record, signal } = this.#parts;
    const place = outbox.placeOf(op, "requested");
    if (place === null) throw new Error(`${op}: its request has no place in the log`);
    await intake.drain(record.connection, signal, place);
    // The connection told whether the log knows more than this database.
    if (outbox.holdsInDoubt) throw new VaultRefused(HOLDS_IN_DOUBT.code, HOLDS_IN_DOUBT.message);
    let doomed: KeyName[];
    let isPart: boolean;
    try {
      const all = names();
      doomed = this.statable(all);
      isPart = doomed.length < all.length;
      if (isPart && doomed.length === 0)
        throw new VaultRefused(
          "too_many_shards",
          `a month of it lies in more than ${MAX_STATED_SHARDS} shards: no entry could name them`,
        );
    } catch (error) {
      if (error instanceof VaultRefused)
        acts.advance(op, "failed", { say: outcomeOf(draft, "denied", { code: error.code }) });
      throw error;
    }
    acts.advance(op, "destroying", {
      also: () => {
        acts.doom(op, doomed);
        return { ...acts.get(op).result, ...detail(), ...(isPart ? { [LEFT]: true } : {}) };
      },
    });
  }

  async #destroy(op: string, { confirmation }: Destroying): Promise<void> {
    const { acts, keys, store, signal } = this.#parts;
    const doomed = acts.doomedBy(op);
    if (confirmation !== null) this.#needles.set(op, await this.#needlesOf(doomed));
    acts.noteDestruction(op, Date.now(), this.#finalAfter(op, doomed));
    keys.destroy(doomed);
    for (const name of doomed)
      while (store.markErased(op, name, ROWS_AT_ONCE) === ROWS_AT_ONCE) {
        await breath();
        signal.throwIfAborted();
      }
    const erased = await statementOf(erasedBy(store, op));
    acts.advance(op, "destroyed", {
      also: () => {
        acts.forgetDoomed(op);
        return { ...acts.get(op).result, erased };
      },
    });
  }

  /** Copies are made of keys that are there: what an earlier life wrote down holds where they are gone. */
  #finalAfter(op: string, doomed: readonly KeyName[]): string {
    const { acts, keys, epochs } = this.#parts;
    const known = acts.get(op).result?.["final_after"] as string | undefined;
    const madeAt = keys.madeAtOf(doomed);
    if (madeAt === null && known !== undefined) return known;
    const endMs = madeAt === null ? null : epochs.endOfCopies(madeAt);
    return new Date(
      Math.max(Date.now(), endMs ?? 0, known === undefined ? 0 : Date.parse(known)),
    ).toISOString();
  }

  async #state(op: string, { draft }: Destroying): Promise<void> {
    const { acts, scrub } = this.#parts;
    await scrub();
    const { unwitnessed, [LEFT]: _left, ...detail } = acts.get(op).result ?? {};
    const outcome = { code: "ok", ...(unwitnessed === true ? { unwitnessed: true as const } : {}) };
    acts.advance(op, "completed", { say: outcomeOf(draft, "completed", outcome, detail) });
    await this.#stated(op);
  }

  /** @throws AuditUnavailable: it is asked about again; AuditRejected: the act is at its end, no other outcome would be taken */
  async #stated(op: string): Promise<void> {
    const { acts, record } = this.#parts;
    try {
      await record.durableInTime(op, "completed");
    } catch (error) {
      if (error instanceof AuditRejected) acts.advance(op, "done");
      throw error;
    }
  }

  async #confirm(op: string, { confirmation }: Destroying): Promise<void> {
    const { acts, record, config, log, scrub } = this.#parts;
    await this.#stated(op);
    if (confirmation === null) return acts.advance(op, "done");
    const needles = this.#needles.get(op);
    if (needles !== undefined) {
      const folders = [config.dataDir, config.keysDir, config.epochsDir, config.backupsDir];
      const found = await filesWith(needles, folders);
      if (found.length > 0) {
        log.error({ op, files: found }, "what was erased still stands in files of the vault");
        await scrub();
        throw new VaultRefused(
          "erasure_unconfirmed",
          "what was erased still stands in files of the vault; its log names them",
        );
      }
    }
    this.#needles.delete(op);
    acts.advance(op, "done", { say: confirmation(needles?.count ?? 0) });
    await record.durableInTime(op, "fact");
  }

  /** Salts, keys, wrapped keys and sealed values: random bytes, which stand nowhere else. What can't be opened any more is destroyed all the same. */
  async #needlesOf(names: readonly KeyName[]): Promise<Needles> {
    const { keys, store } = this.#parts;
    const needles = new Needles(MAX_NEEDLES);
    const opening = new Map<KeyName, Buffer | null>();
    for (const wrapped of keys.wrappedOf(names)) needles.add(wrapped);
    for (const name of names) {
      const key = await keys.find(name).catch(nullWhenUnsealable);
      opening.set(name, key);
      if (key !== null)
        for (const form of [
          Buffer.from(key),
          Buffer.from(key.toString("hex")),
          Buffer.from(key.toString("base64")),
        ])
          needles.add(form);
    }
    for (const [name, key] of opening)
      for (const { commitment, sealed } of store.ofSubjectMonth(name)) {
        if (needles.isFull) break;
        needles.add(Buffer.from(sealed.subarray(0, SEALED_PREFIX_BYTES)));
        const salt = key === null ? null : saltOf(key, commitment, sealed);
        if (salt === null) continue;
        needles.add(Buffer.from(salt, "hex"));
        needles.add(Buffer.from(salt));
      }
    return needles;
  }
}

function unstatedShards(
  erased: readonly ErasedOfShard[],
  { erased: logged = [] }: Record<string, unknown>,
): string[] {
  const isSame = (
    one: ErasedOfShard,
    { origin, commitments_count: count, commitments_root: root }: ErasedOfShard,
  ): boolean =>
    one.origin === origin && one.commitments_count === count && one.commitments_root === root;
  return erased
    .filter((one) => !(logged as ErasedOfShard[]).some((other) => isSame(one, other)))
    .map(({ origin }) => origin);
}

function saltOf(key: Uint8Array, commitment: Uint8Array, sealed: Uint8Array): string | null {
  try {
    return unsealValue(key, commitment, sealed).salt;
  } catch (error) {
    return nullWhenUnsealable(error);
  }
}

function nullWhenUnsealable(error: unknown): null {
  if (error instanceof UnsealError) return null;
  throw error;
}
