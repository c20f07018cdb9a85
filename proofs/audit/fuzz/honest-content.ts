/**
 * What the real logs signed, by a comparison that shares nothing with the verifier: an export that passes under a real log's own policy must hold the
 * three lines of a checkpoint that this log signed, and every entry and tile of that size byte for byte; its hourly checkpoints and its disclosures must
 * each be one of the honest ones. What no signature covers may differ: lines of signatures beyond those of the policy, and hourly checkpoints or
 * disclosures that are left out. A proof must hold the honest entry of its index under such a head. Beside releases all that was measured before a start
 * must be what one of them holds.
 */
import { linesOf } from "./change-lines.ts";
import type { Input } from "./input.ts";
import { leavesOf, nameOf, takenApart } from "./members.ts";
import { releaseObjection, startsOf } from "./releases.ts";
import type { Samples } from "./samples.ts";

type Log = {
  policy: Buffer;
  heads: Set<string>;
  trees: Map<string, Map<string, Buffer>>;
  lines: Set<string>;
  leaves: string[];
};

export class HonestContent {
  readonly #logs: Log[] = [];

  constructor({ exports, proofs, known }: Samples) {
    for (const { bundle, policy } of exports) {
      const log = this.#of(policy);
      const tree = new Map<string, Buffer>();
      for (const member of takenApart(bundle).members) {
        const name = nameOf(member);
        if (name.startsWith("tile/")) tree.set(name, member.content);
        else if (name.startsWith("disclosures/"))
          for (const line of linesOf(member.content)) log.lines.add(line.toString("latin1"));
        else log.heads.add(headOf(member.content));
        if (name === "checkpoint") log.trees.set(headOf(member.content), tree);
      }
      const leaves = leavesOf(bundle);
      if (leaves.length > log.leaves.length) log.leaves = leaves;
    }
    for (const { proof, policy } of proofs) this.#of(policy).heads.add(headOf(noteOf(proof)));
    for (const log of this.#logs) for (const note of known) log.heads.add(headOf(note));
  }

  /** Why an input that passed should not have; null when it may. */
  objection({ file, policy, releases }: Input): string | null {
    const log = this.#logs.find((one) => policy !== null && one.policy.equals(policy));
    if (log === undefined) return null;
    return file.subarray(0, 23).toString() === "c2sp.org/tlog-proof@v1\n"
      ? proofObjection(file, log)
      : (exportObjection(file, log) ?? releaseObjection(startsOf(leavesOf(file)), releases));
  }

  #of(policy: Buffer): Log {
    const known = this.#logs.find((one) => one.policy.equals(policy));
    if (known !== undefined) return known;
    const log: Log = { policy, heads: new Set(), trees: new Map(), lines: new Set(), leaves: [] };
    this.#logs.push(log);
    return log;
  }
}

function exportObjection(file: Buffer, { heads, trees, lines }: Log): string | null {
  const { members } = takenApart(file);
  const checkpoint = members.find((one) => nameOf(one) === "checkpoint");
  const tree = checkpoint === undefined ? undefined : trees.get(headOf(checkpoint.content));
  if (tree === undefined) return "passes under a checkpoint that was never signed";
  let found = 0;
  for (const member of members) {
    const name = nameOf(member);
    if (name.startsWith("tile/")) {
      found += 1;
      if (tree.get(name)?.equals(member.content) !== true) return `passes with another ${name}`;
    } else if (name.startsWith("disclosures/")) {
      if (!linesOf(member.content).every((line) => lines.has(line.toString("latin1"))))
        return `passes with another ${name}`;
    } else if (!heads.has(headOf(member.content))) return `passes with another ${name}`;
  }
  return found === tree.size ? null : `passes with ${found} of ${tree.size} files of its tree`;
}

function proofObjection(proof: Buffer, { heads, leaves }: Log): string | null {
  const text = proof.toString("latin1");
  const [, leaf = "", index = ""] = /\nextra (\S+)\nindex (\S+)\n/.exec(text) ?? [];
  if (!heads.has(headOf(noteOf(proof)))) return "passes under a checkpoint that was never signed";
  const honest = leaves[Number(index)];
  return honest !== undefined && Buffer.from(honest).toString("base64") === leaf
    ? null
    : "passes with another entry";
}

function headOf(note: Buffer): string {
  return note.toString("latin1").split("\n").slice(0, 3).join("\n");
}

function noteOf(proof: Buffer): Buffer {
  return proof.subarray(proof.indexOf("\n\n") + 2);
}
