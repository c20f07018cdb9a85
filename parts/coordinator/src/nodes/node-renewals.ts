/**
 * A node's next certificate. It counts beside the one before, so that an answer that was lost costs nothing; the first connection with it makes the one
 * before void. What else the register says of the node stays.
 */
import { hash, randomUUID, verify, X509Certificate } from "node:crypto";
import { committer } from "@resontech/audit/producer";
import {
  RENEWAL_GRACE_MS,
  type RenewReply,
  type RenewRequest,
} from "@resontech/contracts/agent-protocol";
import { parseRenewalToken, renewalBytes } from "@resontech/contracts/renewal-token";
import { ApiError } from "../api-error.ts";
import type { AuditGate } from "../audit-ports.ts";
import type { NodeCaller } from "../authorization/caller.ts";
import { demand } from "../authorization/demand.ts";
import { actorOf } from "../authorization/in-the-log.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { type CertificateAuthority, certificateSha256 } from "./certificate-authority.ts";
import type { NodeTable } from "./node-table.ts";

export type RenewalParts = {
  db: WriteHandle;
  commit: GroupCommit;
  gate: AuditGate;
  nodes: NodeTable;
  authority: CertificateAuthority;
  /** Inside a commit: peers of the node are told by which certificate they know it. */
  desiredChanged: (node: string) => void;
  /** That a node came with its next certificate could not be kept; its next connection tries again. */
  onError: (error: unknown) => void;
};

export class NodeRenewals {
  readonly #parts: RenewalParts;
  readonly #holders;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.#holders = parts.db
      .prepare<[], string>(
        "SELECT DISTINCT node_id FROM members WHERE state NOT IN ('RELEASED', 'QUARANTINED')",
      )
      .pluck();
  }

  /** @throws ApiError `csr_invalid`; AuditUnavailable */
  async renew(caller: NodeCaller, { csr }: Pick<RenewRequest, "csr">): Promise<RenewReply> {
    return { certChain: await this.#sign(caller, csr, {}) };
  }

  /**
   * Of a node whose certificate has ended, within the grace. It must be the very one that the node is known by, and the token signed with its key.
   * @param source network address, for the audit log
   * @returns null for a token that no node made
   * @throws ApiError `join_token_invalid`, `csr_invalid`; AuditUnavailable
   */
  async renewLate(
    token: string,
    csr: string,
    source: string,
  ): Promise<{ node: string; certChain: string } | null> {
    const shown = parseRenewalToken(token);
    if (shown === null) return null;
    const node = this.#nodeOf(shown, csr);
    if (node === null)
      throw new ApiError(
        "join_token_invalid",
        "the certificate is not the one that the node is known by, or ended too long ago",
      );
    const caller: NodeCaller = { kind: "node", node, by: "ended-certificate" };
    demand(caller, "node.join", { node });
    return { node, certChain: await this.#sign(caller, csr, { source }) };
  }

  /** Whom the bus lets in. */
  admit(leaf: string): { node: string; validUntil: number } | null {
    const { authority, nodes, commit, onError } = this.#parts;
    const validUntil = authority.validUntil(leaf);
    if (validUntil === null) return null;
    const sha256 = certificateSha256(leaf);
    const node = nodes.ofCertificate(sha256);
    if (node === null) return null;
    if (nodes.get(node)?.certificate_sha256 !== sha256)
      commit.run(() => this.#take(node, sha256)).catch(onError);
    return { node, validUntil };
  }

  #take(node: string, sha256: string): void {
    if (!this.#parts.nodes.takeNextCertificate(node, sha256)) return;
    for (const holder of this.#holders.all()) this.#parts.desiredChanged(holder);
  }

  async #sign(caller: NodeCaller, csr: string, { source }: { source?: string }): Promise<string> {
    const { authority, gate, commit, nodes } = this.#parts;
    const { node } = caller;
    const issued = await authority.signNode(node, csr);
    const commitment = committer();
    await gate.fact(
      {
        type: "iam.node.renew",
        op: randomUUID(),
        actor: actorOf(caller),
        ...(source === undefined ? {} : { src: { addr: commitment("src.addr", source) } }),
        object: { kind: "node", id: node },
        detail: { certificate_sha256: issued.sha256, late: source !== undefined },
      },
      commitment.disclosures,
    );
    await commit.run(() => nodes.setNextCertificate(node, issued.sha256));
    return issued.certPem + authority.intermediatePem;
  }

  /** Whose certificate and signature they are; null for nobody's. */
  #nodeOf(
    { certificate, signature }: { certificate: Buffer; signature: Buffer },
    csr: string,
  ): string | null {
    const { authority, nodes } = this.#parts;
    const endedAt = authority.endOf(certificate);
    if (endedAt === null || Date.now() - endedAt > RENEWAL_GRACE_MS) return null;
    const { publicKey } = new X509Certificate(certificate);
    const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
    if (!verify("sha256", renewalBytes(hash("sha256", csr)), key, signature)) return null;
    return nodes.ofCertificate(certificateSha256(certificate));
  }
}
