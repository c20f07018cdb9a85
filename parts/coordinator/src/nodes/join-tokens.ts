import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { JoinReply, JoinRequest } from "@resontech/contracts/agent-protocol";
import { committer } from "@resontech/audit/producer";
import type { KernelRecords } from "../kernel/kernel-records.ts";
import { ApiError } from "../api-error.ts";
import type { AuditGate } from "../audit-ports.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import { demand } from "../authorization/demand.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Clock } from "../kernel/clock.ts";
import { type CertificateAuthority, readSigningRequest } from "./certificate-authority.ts";
import type { NodeRenewals } from "./node-renewals.ts";
import type { NodeTable } from "./node-table.ts";

/** Node ids stand in subjects, worker ids and DNS names. */
const NODE_ID = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** @throws ApiError validation_failed for a name that no node may have */
export function requireNodeId(node: string): void {
  if (!NODE_ID.test(node))
    throw new ApiError(
      "validation_failed",
      `${JSON.stringify(node)} can't name a node: lower-case letters, digits and - are meant, at most 40, the first and last no -`,
    );
}

type TokenRow = { node_id: string; expires_at: number; used_at: number | null };

export type JoinParts = {
  db: WriteHandle;
  commit: GroupCommit;
  clock: Clock;
  gate: AuditGate;
  records: KernelRecords;
  nodes: NodeTable;
  authority: CertificateAuthority;
  /** Of nodes whose certificate has ended. */
  renewals: Pick<NodeRenewals, "renewLate">;
  /** What a node that joins is told. */
  natsUrl: string;
  registry: string;
};

/** One-use tokens, stored as hashes, and the certificates that they are exchanged for. */
export class JoinTokens {
  readonly #parts: JoinParts;

  constructor(parts: JoinParts) {
    this.#parts = parts;
  }

  /**
   * Makes a token that admits one node under this id. `expiresAt` is Unix milliseconds.
   * @throws ApiError `validation_failed` for an id that is no lower-case DNS label of at most 40 characters
   */
  async make(node: string, ttlS: number): Promise<{ token: string; expiresAt: number }> {
    const { db, commit, clock } = this.#parts;
    requireNodeId(node);
    const token = `rtj_${randomBytes(32).toString("base64url")}`;
    const now = clock.now();
    const expiresAt = now + ttlS * 1000;
    await commit.run(() =>
      db
        .prepare(
          "INSERT INTO join_tokens (token_sha256, node_id, created_at, expires_at) VALUES (?, ?, ?, ?)",
        )
        .run(hashOf(token), node, now, expiresAt),
    );
    return { token, expiresAt };
  }

  /**
   * Signs the request of whoever holds a token. The token is used up by the first request that is signed; the same transaction
   * makes the new certificate the only one that the node is known by. A token that a node made itself only renews: nothing else of the node changes.
   * @param source network address, for the audit log
   * @throws ApiError `join_token_invalid` (its caller counts and logs it), `csr_invalid`; AuditUnavailable
   */
  async join({ token, csr }: JoinRequest, source: string): Promise<JoinReply> {
    const { gate, commit, records, nodes, authority, clock } = this.#parts;
    const renewed = await this.#parts.renewals.renewLate(token, csr, source);
    if (renewed !== null) return this.#reply(renewed.node, renewed.certChain);
    const commitment = committer();
    const src = { addr: commitment("src.addr", source) };
    const row = this.#usable(token);
    if (row === null)
      throw new ApiError("join_token_invalid", "the join token is unknown, used or expired");
    await readSigningRequest(csr);
    const node = row.node_id;
    const caller = { kind: "node", node, by: "join-token" } as const;
    demand(caller, "node.join", { node });
    const object = { kind: "node", id: node } as const;
    const op = randomUUID();
    const ack = await gate.requested(
      { type: "iam.node.join", op, actor: actorOf(caller), src, object },
      commitment.disclosures,
    );
    const proof = { op, ...ack };
    try {
      const issued = await authority.signNode(node, csr);
      await commit.run(() => {
        if (!this.#use(token))
          throw new ApiError("join_token_invalid", "the join token was used a moment ago");
        nodes.admit(node, issued.sha256, clock.now());
        records.outcome("iam.node.join", proof, object, { phase: "completed", code: "ok" });
      });
      return this.#reply(node, issued.certPem + authority.intermediatePem);
    } catch (error) {
      const code = error instanceof ApiError ? error.code : "internal_error";
      await commit.run(() =>
        records.outcome("iam.node.join", proof, object, { phase: "failed", code }),
      );
      throw error;
    }
  }

  #reply(node: string, certChain: string): JoinReply {
    const { authority, natsUrl, registry } = this.#parts;
    return { node, certChain, rootCert: authority.rootPem, natsUrl, registry };
  }

  #usable(token: string): TokenRow | null {
    const row = this.#parts.db
      .prepare<[string], TokenRow>(
        "SELECT node_id, expires_at, used_at FROM join_tokens WHERE token_sha256 = ?",
      )
      .get(hashOf(token));
    return row === undefined || row.used_at !== null || row.expires_at <= this.#parts.clock.now()
      ? null
      : row;
  }

  #use(token: string): boolean {
    const now = this.#parts.clock.now();
    const { changes } = this.#parts.db
      .prepare(
        "UPDATE join_tokens SET used_at = ? WHERE token_sha256 = ? AND used_at IS NULL AND expires_at > ?",
      )
      .run(now, hashOf(token), now);
    return changes === 1;
  }
}

function hashOf(token: string): string {
  return createHash("sha256").update(token, "utf8").digest("hex");
}
