/** Whose keys and buckets they are, as the coordinator says; remembered, because they never change hands, until the coordinator says that a key is gone. */
import type { Principal } from "../decisions/principal.ts";
import type { CoordinatorLink } from "./coordinator-link.ts";

const ASK_MS = 5_000;
/** An unknown name may become known at any moment: a user is just being made. */
const UNKNOWN_LIFE_MS = 1_000;
const KNOWN_LIFE_MS = 600_000;
const MAX_ENTRIES = 4_096;
/** Version of the protocol that has the question. */
const ASKS_EXPORT = 2;

export class Directory {
  readonly #link: CoordinatorLink;
  readonly #principals = new Remembered<Principal>();
  readonly #owners = new Remembered<string | null>();

  constructor(link: CoordinatorLink) {
    this.#link = link;
    link.onForget((gone) => {
      if (gone === "all") this.#principals.clear();
      else for (const accessKeyId of gone) this.#principals.delete(accessKeyId);
    });
  }

  /** @throws CoordinatorUnavailable for a key that is not remembered while the coordinator is away */
  async principal(accessKeyId: string | null): Promise<Principal> {
    if (accessKeyId === null) return { kind: "none" };
    return await this.#principals.get(accessKeyId, async () => {
      const { kind, subject, bucket } = await this.#link.ask("principal", { accessKeyId }, ASK_MS);
      if (kind === "user")
        return subject === null
          ? { value: { kind: "unknown" }, isKnown: false }
          : { value: { kind, subject, accessKeyId, bucket }, isKnown: true };
      return { value: { kind }, isKnown: kind !== "unknown" };
    });
  }

  /** Whose outputs lie there; not remembered, as jobs end. @throws CoordinatorUnavailable */
  async outputs(bucket: string, folder: string): Promise<{ job: string | null; isOver: boolean }> {
    const { job, isOver } = await this.#link.ask("outputs", { bucket, folder }, ASK_MS);
    return { job, isOver };
  }

  /**
   * Versions of an output that a member may read now; null where the project's outputs leave as its members like. Not remembered: it may end at any moment.
   * @throws CoordinatorUnavailable
   */
  async released(bucket: string, key: string, subject: string): Promise<readonly string[] | null> {
    // Of an older release nothing leaves by approval alone.
    if ((await this.#link.version(ASK_MS)) < ASKS_EXPORT) return null;
    const { byApproval, versions } = await this.#link.ask(
      "export",
      { bucket, key, subject },
      ASK_MS,
    );
    return byApproval ? versions : null;
  }

  /** Null for a bucket of nobody, and while nobody can say. */
  async owner(bucket: string): Promise<string | null> {
    try {
      return await this.#ownerOf(bucket);
    } catch {
      // The bucket's name stands in the record all the same, as a commitment.
      return null;
    }
  }

  #ownerOf(bucket: string): Promise<string | null> {
    return this.#owners.get(bucket, async () => {
      const { owner } = await this.#link.ask("owner", { bucket }, ASK_MS);
      return { value: owner, isKnown: owner !== null };
    });
  }
}

type Found<T> = { value: T; isKnown: boolean };

/** The oldest entries go first; questions under way are shared. */
class Remembered<T> {
  readonly #entries = new Map<string, { answer: Promise<Found<T>>; validUntil: number }>();

  /** A question that is under way is answered to who asked it, and to nobody after. */
  delete(name: string): void {
    this.#entries.delete(name);
  }

  clear(): void {
    this.#entries.clear();
  }

  async get(name: string, find: () => Promise<Found<T>>): Promise<T> {
    const entry = this.#entries.get(name);
    if (entry !== undefined && performance.now() < entry.validUntil)
      return (await entry.answer).value;
    this.#entries.delete(name);
    const made = { answer: find(), validUntil: Number.POSITIVE_INFINITY };
    this.#entries.set(name, made);
    if (this.#entries.size > MAX_ENTRIES)
      this.#entries.delete(this.#entries.keys().next().value ?? "");
    try {
      const { value, isKnown } = await made.answer;
      made.validUntil = performance.now() + (isKnown ? KNOWN_LIFE_MS : UNKNOWN_LIFE_MS);
      return value;
    } catch (error) {
      if (this.#entries.get(name) === made) this.#entries.delete(name);
      throw error;
    }
  }
}
