import { spawn } from "node:child_process";
import { createHash } from "node:crypto";

/**
 * One nftables table for each instance: from a job's bridge nothing reaches the host, and nothing is forwarded but within one bridge.
 * An internal network alone leaves services on 0.0.0.0 and the engine's name service within reach. Refused, not dropped: a job that
 * asks for a name or an address learns at once that there is none.
 */
export class Firewall {
  readonly #table: string;
  readonly #prefix: string;

  constructor(instance: string) {
    this.#table = `resontech-${instance}`;
    this.#prefix = `rt${shortHash(instance, 4)}`;
  }

  /** Interface name of an attempt's bridge: at most 15 characters, known to the rules by its beginning. */
  bridge(attempt: string): string {
    return `${this.#prefix}${shortHash(attempt, 8)}`;
  }

  /** Loads the whole table for these attempts, in one transaction. */
  async load(attempts: readonly string[]): Promise<void> {
    const ours = `"${this.#prefix}*"`;
    const within = attempts.map((attempt) => `"${this.bridge(attempt)}" . "${this.bridge(attempt)}"`).join(", ");
    await nft(
      ["-f", "-"],
      `table inet ${this.#table} {}
delete table inet ${this.#table}
table inet ${this.#table} {
  set within {
    type ifname . ifname
    ${within === "" ? "" : `elements = { ${within} }`}
  }
  chain input {
    type filter hook input priority -10; policy accept;
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
  }

  /** Whether the table is loaded and knows the attempt's bridge. */
  async covers(attempt: string): Promise<boolean> {
    const rules = await nft(["list", "table", "inet", this.#table]);
    return ["hook input", "hook forward", `"${this.bridge(attempt)}" .`].every((part) => rules.includes(part));
  }

  /** Removes the table; safe to repeat. */
  async unload(): Promise<void> {
    await nft(["-f", "-"], `table inet ${this.#table} {}\ndelete table inet ${this.#table}\n`);
  }
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
  if (status !== 0) throw new Error(`nft ${args.join(" ")} ended with ${status ?? "a signal"}: ${errors.slice(0, 400)}`);
  return output;
}
