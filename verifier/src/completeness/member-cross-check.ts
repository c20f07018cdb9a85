/**
 * The coordinator beside its agents: what it says of a member's start and end, it has from the agent of the member's node, whose journal had it first,
 * under the node's own key. A journal comes to the log in its order and whole. So when an agent lets go of a member that was placed later, all that
 * was said of earlier ones must be there; an agent that is never heard shows where the coordinator goes on telling of it for hours.
 */
import { type CoordinatorClock, RECORDER } from "./coordinator-clock.ts";
import { type Detail, nameIn } from "../leaf/detail.ts";
import type { Horizon } from "./horizon.ts";
import type { Leaf } from "../leaf/leaf.ts";
import { type Fault, NODE } from "./placements.ts";

const HOUR_MS = 3_600_000;
/** More than any site has at once; beyond it nothing is judged any more. */
const MAX_MEMBERS = 20_000;
const MAX_NODES = 10_000;
/** Of one node, which has more only while its words are refused; then the oldest are given up. */
const MAX_OWED = 32;

type Word = "started" | "ended" | "released";
const BIT: Readonly<Record<Word, number>> = { started: 1, ended: 2, released: 4 };
const WORD_OF: Readonly<Record<string, Word>> = {
  "job.node.started": "started",
  "job.node.ended": "ended",
  "job.node.released": "released",
};
const ENDS_OF_ATTEMPTS = [
  "job.finished",
  "job.failed",
  "job.cancelled",
  "job.expired",
  "job.queued",
];

type Member = {
  node: string;
  attempt: string;
  /** Entry of its placement. */
  placed: number;
  /** A bit for each word of its agent. */
  said: number;
  /** Its agent said so, whatever it found. */
  isLetGo: boolean;
  /** The coordinator says no more of it. */
  isOver: boolean;
};
/** What the coordinator has said, and the agent not yet. */
type Owed = { member: string; word: Word; index: number; saidMs: number };
type Node = {
  schema: string;
  isRefused: boolean;
  /** Of the coordinator's running time: before it the node could not be heard. */
  excusedMs: number;
  members: Set<string>;
  owed: Owed[];
};

export class MemberCrossCheck {
  readonly #horizon: Horizon;
  readonly #clock: CoordinatorClock;
  readonly #members = new Map<string, Member>();
  /** Of attempts that have not ended. */
  readonly #servers = new Map<string, string>();
  readonly #nodes = new Map<string, Node>();
  #startedMs = 0;
  /** There was too much at once: nothing is judged any more. */
  isOver = false;
  /** Words of the coordinator that its agents said, too. */
  paired = 0;

  constructor(horizon: Horizon, clock: CoordinatorClock) {
    this.#horizon = horizon;
    this.#clock = clock;
  }

  /** Words of the coordinator that no agent has said yet. */
  get waiting(): number {
    return [...this.#nodes.values()].reduce((sum, { owed }) => sum + owed.length, 0);
  }

  /** What was heard so far is nothing to compare with any more. */
  forget(): void {
    for (const known of [this.#members, this.#servers, this.#nodes]) known.clear();
  }

  /** @param isEarly the agent has spoken of this member before */
  faults(leaf: Leaf, index: number, isEarly: boolean): Fault[] {
    if (this.isOver) return [];
    const { type, prod, object } = leaf;
    if (prod === RECORDER) return this.#byCoordinator(leaf, index, isEarly);
    if (prod.startsWith(NODE)) return this.#byAgent(leaf, prod.slice(NODE.length));
    if (prod === "auditd" && object.id.startsWith(NODE))
      this.#byAuditd(leaf, object.id.slice(NODE.length));
    // While it was away nobody could be heard.
    if (type === "admin.coordinator.start") this.#startedMs = this.#clock.runMs;
    return [];
  }

  #byCoordinator(leaf: Leaf, index: number, isEarly: boolean): Fault[] {
    const { type, object, detail = {} } = leaf;
    const attempt = nameIn(detail, "attempt");
    if (type === "iam.node.lost") this.#node(object.id).excusedMs = this.#clock.runMs;
    if (attempt === null) return [];
    if (type === "job.member") {
      if (detail["from"] === null) {
        // Of one whose agent was quicker, not every word of it was heard.
        const node = nameIn(detail, "node");
        const isServer = detail["role"] === "server";
        if (node !== null && !isEarly && this.#horizon.isJudged(leaf))
          this.#placed(object.id, { attempt, node, isServer }, index);
        return [];
      }
      return this.#moved(leaf, index, detail["from"], detail["to"]);
    }
    if (!ENDS_OF_ATTEMPTS.includes(type)) return [];
    const server = this.#servers.get(attempt);
    this.#servers.delete(attempt);
    if (server === undefined) return [];
    const faults = type === "job.finished" ? this.#claim(leaf, index, server, "ended") : [];
    this.#tidy(server);
    return faults;
  }

  #placed(
    id: string,
    { attempt, node, isServer }: { attempt: string; node: string; isServer: boolean },
    index: number,
  ): void {
    this.#members.set(id, { node, attempt, placed: index, said: 0, isLetGo: false, isOver: false });
    this.#node(node).members.add(id);
    if (isServer) this.#servers.set(attempt, id);
    if (this.#members.size > MAX_MEMBERS || this.#servers.size > MAX_MEMBERS) this.#giveUp();
  }

  #moved(leaf: Leaf, index: number, from: unknown, to: unknown): Fault[] {
    const { id } = leaf.object;
    const member = this.#members.get(id);
    if (member === undefined) return [];
    if (to === "RELEASED" || to === "QUARANTINED") member.isOver = true;
    let faults: Fault[] = [];
    if (to === "RUNNING") faults = this.#claim(leaf, index, id, "started");
    // One that its node was never told of the coordinator lets go of itself.
    if (to === "RELEASED" && from !== "LEASED") faults = this.#claim(leaf, index, id, "released");
    this.#tidy(id);
    return faults;
  }

  /** The coordinator says what it can only have from the agent. */
  #claim(leaf: Leaf, index: number, id: string, word: Word): Fault[] {
    const member = this.#members.get(id);
    if (member === undefined || !this.#horizon.isJudged(leaf)) return [];
    if ((member.said & BIT[word]) !== 0) {
      this.paired += 1;
      return [];
    }
    const owed = { member: id, word, index, saidMs: this.#clock.runMs };
    // It was the last thing that the agent had to say of it.
    if (member.isLetGo && word !== "released") return [notSaid(owed, member.node)];
    const node = this.#node(member.node);
    if (node.owed.push(owed) > MAX_OWED) node.owed.shift();
    return this.#keptBack(node, member.node);
  }

  /** The agent's node was heard by the coordinator three times, hours apart, and the log has nothing of it. */
  #keptBack(node: Node, name: string): Fault[] {
    const [oldest] = node.owed;
    const { runMs } = this.#clock;
    if (oldest === undefined || node.isRefused) return [];
    const since = ({ saidMs }: Owed): number => Math.max(saidMs, node.excusedMs, this.#startedMs);
    const fromMs = since(oldest);
    if (runMs - fromMs < 2 * HOUR_MS) return [];
    if (
      !node.owed.some((owed) => since(owed) - fromMs >= HOUR_MS && runMs - since(owed) >= HOUR_MS)
    )
      return [];
    node.owed = [];
    return [
      {
        index: oldest.index,
        reason: `CROSS-CHECK: the coordinator tells for hours of ${name}, whose agent says nothing of it`,
      },
    ];
  }

  #byAgent(leaf: Leaf, name: string): Fault[] {
    const node = this.#node(name);
    // A release before may have said less.
    if (node.schema !== "" && node.schema !== leaf.schema_sha256) this.#forgetNode(name);
    node.schema = leaf.schema_sha256;
    if (node.isRefused) node.excusedMs = this.#clock.runMs;
    node.isRefused = false;
    const word = WORD_OF[leaf.type];
    const member = this.#members.get(leaf.object.id);
    if (word === undefined || member?.node !== name || member.attempt !== leaf.detail?.["attempt"])
      return [];
    if (word !== "released" || isClean(leaf.detail)) this.#said(node, member, leaf.object.id, word);
    if (word !== "released") return [];
    member.isLetGo = true;
    const faults = this.#horizon.isJudged(leaf)
      ? this.#missing(node, name, leaf.object.id, member.placed)
      : [];
    this.#tidy(leaf.object.id);
    return faults;
  }

  #said(node: Node, member: Member, id: string, word: Word): void {
    member.said |= BIT[word];
    const before = node.owed.length;
    node.owed = node.owed.filter((owed) => owed.member !== id || owed.word !== word);
    this.paired += before - node.owed.length;
  }

  /** What must stand in the journal before its word that this member is let go of. */
  #missing(node: Node, name: string, id: string, placed: number): Fault[] {
    const isMissing = ({ member, word, index }: Owed): boolean =>
      member === id ? word !== "released" : index < placed;
    const missing = node.owed.filter(isMissing);
    node.owed = node.owed.filter((owed) => !isMissing(owed));
    for (const { member } of missing) this.#tidy(member);
    return missing.map((owed) => notSaid(owed, name));
  }

  /** A journal begins in the place of one that was lost; or what one says is refused, and waits, or stands nowhere. */
  #byAuditd({ type, detail = {} }: Leaf, name: string): void {
    const before = type === "audit.producer.start" ? nameIn(detail, "prev_boot") : null;
    const isAnother = before !== null && before !== detail["boot"];
    const isRefused = type === "audit.rejected";
    if (isAnother || (isRefused && detail["taken"] === true)) this.#forgetNode(name);
    else if (isRefused) this.#node(name).isRefused = true;
  }

  #node(name: string): Node {
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const made: Node = { schema: "", isRefused: false, excusedMs: 0, members: new Set(), owed: [] };
    if (this.#nodes.size === MAX_NODES) this.#giveUp();
    this.#nodes.set(name, made);
    return made;
  }

  #forgetNode(name: string): void {
    const node = this.#node(name);
    for (const id of node.members) this.#members.delete(id);
    node.members.clear();
    node.owed = [];
  }

  #giveUp(): void {
    this.isOver = true;
    this.forget();
  }

  /** A member of which nothing more is awaited is not kept. */
  #tidy(id: string): void {
    const member = this.#members.get(id);
    if (member === undefined || !member.isOver || this.#servers.get(member.attempt) === id) return;
    const { owed, members } = this.#node(member.node);
    if (owed.some((one) => one.member === id)) return;
    this.#members.delete(id);
    members.delete(id);
  }
}

function isClean(detail: Detail = {}): boolean {
  return (
    detail["processes_gone"] === true &&
    detail["disk_gone"] === true &&
    detail["devices_at_baseline"] === true
  );
}

function notSaid({ member, word, index }: Owed, node: string): Fault {
  return {
    index,
    reason: `CROSS-CHECK: the coordinator is on record that ${member} was ${word}, and the agent of ${node} is not`,
  };
}
