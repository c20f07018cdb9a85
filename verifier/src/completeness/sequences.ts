/**
 * Where each producer stands: its numbers follow one another within a life, a life is begun by `audit.producer.start`, and each heartbeat says
 * of all of them what the log holds.
 */
import { hex, utf8 } from "../input/bytes.ts";
import { type Detail, integerIn, isDetail, nameIn, objectsIn } from "../leaf/detail.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { Platform } from "../platform/platform.ts";

const AUDITD = "auditd";
/** Above the nodes of any site; each has a place in memory. */
const MAX_PRODUCERS = 10_000;

type Life = {
  boot: string;
  last: number /** After a loss that was logged the producer goes on wherever it stands. */;
  mayJump: boolean;
  /** In this shard. */
  hasSpoken: boolean;
};

export class Sequences {
  readonly #sha256: Platform["sha256"];
  readonly #lives = new Map<string, Life>();
  /** auditd speaks before it says that it starts: the first entries of a shard say where the others stand. */
  #isOpening = false;

  constructor(sha256: Platform["sha256"]) {
    this.#sha256 = sha256;
  }

  get count(): number {
    return this.#lives.size;
  }

  /** What it holds is of this shard: it has been acknowledged something here, in the life that it is in. */
  hasSpoken(prod: string): boolean {
    return this.#lives.get(prod)?.hasSpoken === true;
  }

  /** Takes note of an entry; what is wrong with its place, or null. */
  fault(leaf: Leaf, index: number): string | null {
    const { type, prod, boot, pseq } = leaf;
    if (prod === AUDITD && type === "audit.shard.open" && index === 0) {
      this.#isOpening = true;
      this.#lives.set(AUDITD, { boot, last: pseq, mayJump: false, hasSpoken: true });
      return pseq === 1 ? null : "the shard does not begin with auditd's first entry";
    }
    const started = prod === AUDITD && type === "audit.producer.start" ? this.#start(leaf) : null;
    const stepped = this.#step(prod, boot, pseq);
    if (prod === AUDITD && type === "audit.rejected")
      return started ?? stepped ?? this.#rejected(leaf);
    if (prod === AUDITD && type === "audit.lost") {
      const life = this.#lives.get(leaf.object.id);
      if (life !== undefined) life.mayJump = true;
    }
    if (prod === AUDITD && type === "audit.heartbeat")
      return started ?? stepped ?? this.#heartbeat(leaf);
    return started ?? stepped;
  }

  #step(prod: string, boot: string, pseq: number): string | null {
    const life = this.#lives.get(prod);
    if (life === undefined) return `GAP: ${prod} speaks before its start`;
    if (life.boot !== boot) return `GAP: ${prod} speaks in a life that was not begun`;
    const expected = life.last + 1;
    const isNext = pseq === expected || (life.mayJump && pseq > expected);
    life.last = pseq;
    life.mayJump = false;
    life.hasSpoken = true;
    return isNext ? null : `GAP: ${prod} says ${pseq} where ${expected} must be`;
  }

  #start({ object, detail = {}, boot: auditdBoot }: Leaf): string | null {
    const prod = object.id;
    const boot = nameIn(detail, "boot");
    const first = integerIn(detail, "first_pseq");
    if (boot === null || first === null)
      return `GAP: the start of ${prod} does not say where it begins`;
    const known = this.#lives.get(prod);
    if (prod === AUDITD) {
      if (boot !== auditdBoot) return "GAP: auditd starts in another life than it speaks in";
      if (this.#isOpening && known?.boot === boot) {
        this.#isOpening = false;
        return null;
      }
    }
    if (known === undefined && this.#lives.size === MAX_PRODUCERS)
      return `over ${MAX_PRODUCERS} producers have begun`;
    this.#lives.set(prod, { boot, last: first - 1, mayJump: false, hasSpoken: false });
    if (known === undefined) return null;
    if (known.boot === boot) return `GAP: ${prod} starts twice in one life`;
    const isFollowed = detail["prev_boot"] === known.boot && detail["prev_pseq"] === known.last;
    return isFollowed
      ? null
      : `GAP: the start of ${prod} says that its last life ended at ${integerIn(detail, "prev_pseq")}, the log has ${known.last}`;
  }

  /** The refusal stands in the place of what was refused. */
  #rejected({ object, detail = {} }: Leaf): string | null {
    if (detail["taken"] !== true) return null;
    const boot = nameIn(detail, "boot");
    const pseq = integerIn(detail, "pseq");
    return boot === null || pseq === null
      ? `GAP: what was refused of ${object.id} has no place`
      : this.#step(object.id, boot, pseq);
  }

  #heartbeat({ detail = {}, pseq }: Leaf): string | null {
    const held = (prod: string, { last }: Life): number => (prod === AUDITD ? pseq - 1 : last);
    if (isDetail(detail["vector"])) return this.#vectorFault(detail["vector"], held);
    const said = new Map<string, { boot: string | null; pseq: number | null }>();
    const producers = objectsIn(detail, "producers");
    if (producers === null) return "GAP: the heartbeat names nobody";
    for (const one of producers)
      said.set(nameIn(one, "prod") ?? "nobody", {
        boot: nameIn(one, "boot"),
        pseq: integerIn(one, "pseq"),
      });
    for (const [prod, life] of this.#lives) {
      const one = said.get(prod);
      if (one === undefined) return `GAP: the heartbeat does not name ${prod}`;
      const last = held(prod, life);
      if (one.boot !== life.boot || one.pseq !== last)
        return `GAP: the heartbeat says that ${prod} is at ${one.pseq}, the log has ${last}`;
    }
    const unknown = [...said.keys()].find((prod) => !this.#lives.has(prod));
    return unknown === undefined
      ? null
      : `GAP: the heartbeat names ${unknown}, of which the log has nothing`;
  }

  /** Of many producers the digest alone: a fault says that one of them is missed, not which. */
  #vectorFault(vector: Detail, held: (prod: string, life: Life) => number): string | null {
    const lives = [...this.#lives].sort(([a], [b]) => (a < b ? -1 : 1));
    const lines = lives
      .map(([prod, life]) => `${prod} ${life.boot} ${held(prod, life)}\n`)
      .join("");
    const isSame =
      vector["producers"] === lives.length && vector["sha256"] === hex(this.#sha256(utf8(lines)));
    return isSame
      ? null
      : `GAP: the heartbeat's digest of ${integerIn(vector, "producers")} producers is not that of what the log holds`;
  }
}
