import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import { Turns } from "@resontech/frame/turns";

/**
 * What an attempt's bridge may exchange with the host, by TCP alone. `gateway`: its clients reach the agent at the gateway's address and
 * this port. `server`: the container answers, from this address and port, what the agent has dialled; it can't begin anything.
 */
export type Opening = { kind: "gateway" | "server"; address: string; port: number };

export type Guarded = { attempt: string; openings: readonly Opening[] };

const SETS = { gateway: "reachable", server: "answering" } as const;

/** The parts of `nft --json` that are read here. */
const Listing = Type.Object({
  nftables: Type.Array(
    Type.Object({
      set: Type.Optional(
        Type.Object({ name: Type.String(), elem: Type.Optional(Type.Array(Type.Unknown())) }),
      ),
      chain: Type.Optional(
        Type.Object({ name: Type.String(), hook: Type.Optional(Type.String()) }),
      ),
      rule: Type.Optional(Type.Object({ chain: Type.String(), expr: Type.Array(Type.Unknown()) })),
    }),
  ),
});
type Listing = Static<typeof Listing>["nftables"];

/**
 * One nftables table for each instance: from a job's bridge nothing reaches the host but by an opening, and nothing is forwarded but
 * within one bridge. An internal network alone leaves services on 0.0.0.0 and the engine's name service within reach. Refused, not
 * dropped: a job that asks for a name or an address learns at once that there is none.
 */
export class Firewall {
  readonly #table: string;
  readonly #prefix: string;
  /** Nobody loads between another's look and what follows from it. */
  readonly #turns = new Turns();
  #loaded: readonly Guarded[] = [];

  constructor(instance: string) {
    this.#table = `resontech-${instance}`;
    this.#prefix = `rt${shortHash(instance, 4)}`;
  }

  /** Interface name of an attempt's bridge: at most 15 characters, known to the rules by its beginning. */
  bridge(attempt: string): string {
    return `${this.#prefix}${shortHash(attempt, 8)}`;
  }

  load(guarded: readonly Guarded[]): Promise<void> {
    return this.#turns.run(() => this.#load(guarded));
  }

  /**
   * Who flushes the host's rules flushes these as well. False when they were not as they had been loaded, and are loaded again.
   * @throws when they can't be
   */
  keep(): Promise<boolean> {
    return this.#turns.run(async () => {
      if (this.#loaded.length === 0) return true;
      const listing = await this.#list();
      if (this.#loaded.every((guarded) => this.#isCovered(listing, guarded))) return true;
      await this.#load(this.#loaded);
      return false;
    });
  }

  /** Loads the whole table for these attempts, in one transaction. */
  async #load(guarded: readonly Guarded[]): Promise<void> {
    const ours = `"${this.#prefix}*"`;
    const within = guarded.map(
      ({ attempt }) => `"${this.bridge(attempt)}" . "${this.bridge(attempt)}"`,
    );
    const opened = (kind: Opening["kind"]): string[] =>
      guarded.flatMap(({ attempt, openings }) =>
        openings
          .filter((opening) => opening.kind === kind)
          .map(({ address, port }) => `"${this.bridge(attempt)}" . ${address} . ${port}`),
      );
    await nft(
      ["-f", "-"],
      `table inet ${this.#table} {}
delete table inet ${this.#table}
table inet ${this.#table} {
  set within {
    type ifname . ifname
    ${elements(within)}
  }
  set ${SETS.gateway} {
    type ifname . ipv4_addr . inet_service
    ${elements(opened("gateway"))}
  }
  set ${SETS.server} {
    type ifname . ipv4_addr . inet_service
    ${elements(opened("server"))}
  }
  chain input {
    type filter hook input priority -10; policy accept;
    iifname . ip daddr . tcp dport @${SETS.gateway} accept
    iifname . ip saddr . tcp sport @${SETS.server} ct direction reply ct state established accept
    iifname ${ours} counter reject
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname . oifname @within accept
    iifname ${ours} counter reject
    oifname ${ours} counter reject
  }
}
`,
    );
    this.#loaded = guarded;
  }

  /** Whether the table is loaded, knows the attempt's bridge, opens to it just this, and refuses all else. */
  async covers(guarded: Guarded): Promise<boolean> {
    return this.#isCovered(await this.#list(), guarded);
  }

  #isCovered(listing: Listing, { attempt, openings }: Guarded): boolean {
    const bridge = this.bridge(attempt);
    const isExact = (["gateway", "server"] as const).every((kind) => {
      const wanted = openings.filter((opening) => opening.kind === kind);
      const found = elementsOf(listing, SETS[kind]).filter(([own]) => own === bridge);
      return (
        found.length === wanted.length &&
        wanted.every(({ address, port }) =>
          found.some(([, at, by]) => at === address && by === port),
        )
      );
    });
    return (
      isExact &&
      elementsOf(listing, "within").some(([from, to]) => from === bridge && to === bridge) &&
      this.#isClosed(listing, "input", [`@${SETS.gateway}`, `@${SETS.server}`], ["iifname"]) &&
      this.#isClosed(listing, "forward", ["@within"], ["iifname", "oifname"])
    );
  }

  /** The chain hangs in its hook, accepts by these sets alone, and ends by refusing whatever comes from (or goes to) our bridges. */
  #isClosed(
    listing: Listing,
    name: string,
    sets: readonly string[],
    refused: readonly string[],
  ): boolean {
    const isHooked = listing.some(({ chain }) => chain?.name === name && chain.hook === name);
    const rules = listing.flatMap(({ rule }) =>
      rule?.chain === name ? [JSON.stringify(rule.expr)] : [],
    );
    const last = rules.splice(sets.length);
    return (
      isHooked &&
      rules.every((rule, at) => rule.includes(`"right":"${sets[at]}"`)) &&
      last.length === refused.length &&
      last.every(
        (rule, at) =>
          rule.startsWith(
            `[{"match":{"op":"==","left":{"meta":{"key":"${refused[at]}"}},"right":"${this.#prefix}*"}}`,
          ) && rule.includes('"reject"'),
      )
    );
  }

  /** Nothing while there is no table. */
  async #list(): Promise<Listing> {
    const text = await nft(["--json", "list", "table", "inet", this.#table]).catch(
      () => '{"nftables":[]}',
    );
    const listing: unknown = JSON.parse(text);
    return Value.Check(Listing, listing) ? listing.nftables : [];
  }

  /** Removes the table; safe to repeat. */
  unload(): Promise<void> {
    return this.#turns.run(async () => {
      await nft(["-f", "-"], `table inet ${this.#table} {}\ndelete table inet ${this.#table}\n`);
      this.#loaded = [];
    });
  }
}

function elements(of: readonly string[]): string {
  return of.length === 0 ? "" : `elements = { ${of.join(", ")} }`;
}

function elementsOf(listing: Listing, name: string): unknown[][] {
  const Element = Type.Object({ concat: Type.Array(Type.Unknown()) });
  return listing
    .flatMap(({ set }) => (set?.name === name ? (set.elem ?? []) : []))
    .flatMap((element) => (Value.Check(Element, element) ? [element.concat] : []));
}

function shortHash(text: string, digits: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, digits);
}

async function nft(args: readonly string[], input = ""): Promise<string> {
  const child = spawn("nft", args, { stdio: ["pipe", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  // It may end before it has read: its exit code tells.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (status !== 0)
    throw new Error(
      `nft ${args.join(" ")} ended with ${status ?? "a signal"}: ${errors.slice(0, 400)}`,
    );
  return output;
}
