import { type AuditProducer, committer } from "@resontech/audit/producer";

export type Said = { index: number; subject: string; salt: string; value: string };

/** One entry with one personal value. */
export async function say(gate: AuditProducer, subject: string, value: string): Promise<Said> {
  const commit = committer();
  const addr = commit("src.addr", value);
  const { index } = await gate.fact(
    {
      ...{ type: "key.list", op: crypto.randomUUID(), src: { addr } },
      ...(subject === "anonymous"
        ? {
            actor: { sub: "anonymous", kind: "anonymous" },
            object: { kind: "user", id: "anonymous" },
          }
        : { actor: { sub: subject, kind: "user" }, object: { kind: "user", id: subject } }),
    },
    commit.disclosures,
  );
  return { index, subject, salt: commit.disclosures[0]!.salt, value };
}
