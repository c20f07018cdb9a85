import { createHash } from "node:crypto";
import { spawn } from "node:child_process";

/**
 * One nftables table for each instance: from a job's bridge nothing reaches the host but the container engine's name service, and nothing is
 * forwarded anywhere but within the bridges themselves. An internal network alone leaves host services on 0.0.0.0 within reach.
 */
export class Firewall {
  readonly table: string;
  readonly bridgePrefix: string;

  constructor(instance: string) {
    this.table = `resontech-${instance}`;
    this.bridgePrefix = `rt${createHash("sha256").update(instance).digest("hex").slice(0, 4)}`;
  }

  /** Loads the table as one transaction; safe to repeat. */
  async ensure(): Promise<void> {
    const bridges = `"${this.bridgePrefix}*"`;
    await nft(
      ["-f", "-"],
      `table inet ${this.table} {}
delete table inet ${this.table}
table inet ${this.table} {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname ${bridges} meta l4proto { tcp, udp } th dport 53 accept
    iifname ${bridges} counter drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname ${bridges} oifname ${bridges} accept
    iifname ${bridges} counter drop
    oifname ${bridges} counter drop
  }
}
`,
    );
  }

  /** @throws when the table is not loaded */
  async prove(): Promise<void> {
    const rules = await nft(["list", "table", "inet", this.table]);
    if (!rules.includes("hook input") || !rules.includes("drop"))
      throw new Error(`the firewall table ${this.table} is not as it was loaded`);
  }
}

async function nft(args: readonly string[], input?: string): Promise<string> {
  const child = spawn("nft", args, { stdio: ["pipe", "pipe", "pipe"] });
  let [output, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  child.stdin.end(input ?? "");
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (status !== 0) throw new Error(`nft ${args.join(" ")} ended with ${status ?? "a signal"}: ${errors.slice(0, 400)}`);
  return output;
}
