/**
 * Cosigns checkpoints of the logs that it was told of, one request at a time.
 *
 * Invariants (tlog-witness): between looking at what was cosigned last and having the new checkpoint on disk nothing else runs; nothing is
 * answered that is not durable. So no two answers of this witness can be for trees of which neither is the beginning of the other.
 */
import { Turns } from "@resontech/frame/turns";
import { signatureOf } from "@resontech/audit/format/note/checkpoint";
import type { NoteSigner } from "@resontech/audit/format/note/note-key";
import { formatNote, formatSignatureLine } from "@resontech/audit/format/note/signed-note";
import { judge, parseAddCheckpoint, type Refusal } from "./add-checkpoint.ts";
import { clockBehind, cosignTime } from "./cosign-time.ts";
import { isSupported } from "./cosigner.ts";
import type { LogStates } from "./log-states.ts";

export type Answer =
  | { status: 200; origin: string; size: number /** Signature lines. */; lines: string }
  | (Refusal & { origin: string | null })
  | { status: 503; reason: string; origin: string };

export class Witness {
  readonly #states: LogStates;
  readonly #signers: readonly NoteSigner[];
  readonly #nowMs: () => number;
  /** Of all logs. */
  #lastTimeS: number;
  readonly #turns = new Turns();

  private constructor(
    states: LogStates,
    signers: readonly NoteSigner[],
    lastTimeS: number,
    nowMs: () => number,
  ) {
    this.#states = states;
    this.#signers = signers;
    this.#lastTimeS = lastTimeS;
    this.#nowMs = nowMs;
  }

  static async open(
    states: LogStates,
    signers: readonly NoteSigner[],
    nowMs: () => number = Date.now,
  ): Promise<Witness> {
    const times = (await states.all()).map(({ timeS }) => timeS);
    return new Witness(states, signers, Math.max(0, ...times), nowMs);
  }

  /** @param body of an `add-checkpoint` request. @throws when the state can't be read or written; then nothing was answered */
  addCheckpoint(body: Buffer): Promise<Answer> {
    return this.#turns.run(() => this.#add(body));
  }

  /** The newest checkpoint of this log that was cosigned; null when there is none. */
  async cosigned(originHash: string): Promise<string | null> {
    return (await this.#states.findByHash(originHash))?.note || null;
  }

  async #add(body: Buffer): Promise<Answer> {
    const request = parseAddCheckpoint(body);
    if (request === null) return { status: 400, reason: "body_malformed", origin: null };
    const { checkpoint } = request;
    const { origin, size, root, text } = checkpoint;
    const known = await this.#states.find(origin);
    if (known !== null && known.followedBy !== null)
      return { status: 403, reason: "origin_ended", origin };
    const judgement = judge(
      request,
      known && { ...known, keys: known.keys.filter(({ type }) => isSupported(type)) },
    );
    if (judgement.status !== 200 || known === null)
      return { ...(judgement as Refusal), origin: known === null ? null : origin };
    const nowMs = this.#nowMs();
    const timeS = cosignTime(nowMs, this.#lastTimeS);
    if (timeS === null) return { status: 503, reason: clockBehind(nowMs, this.#lastTimeS), origin };
    const own = this.#signers.map((signer) => signatureOf(checkpoint, signer, timeS));
    const note = formatNote({ text, signatures: [...judgement.signatures, ...own] });
    this.#lastTimeS = timeS;
    await this.#states.replace({ ...known, size, root, timeS, note });
    return { status: 200, origin, size, lines: own.map(formatSignatureLine).join("") };
  }
}
