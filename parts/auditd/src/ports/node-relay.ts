/**
 * What agents say, as the coordinator hands it on: each event signed with the key of a node that the appliance's own root vouches for. The producer is
 * the certificate's, `node-<id>`, never the relay's word; numbers have no gaps, so what is kept back shows.
 */
import { createHash, verify, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { Boot, ProducerName } from "@resontech/contracts/audit-event";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import {
  NODE_EVENT_LABEL,
  NODE_EVENT_TYPES,
  type NodeEvents,
  type NodeEventsReply,
  nodeProducer,
  type SignedNodeEvent,
} from "@resontech/contracts/node-audit";
import { Compile } from "typebox/compile";
import type { AuditLog } from "../commit/audit-log.ts";

const PEM = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]{1,8192}-----END CERTIFICATE-----/g;
const isProducerName = Compile(ProducerName);
const isBoot = Compile(Boot);
const NODE_TYPES: ReadonlySet<string> = new Set(NODE_EVENT_TYPES);
/** Refusals of one relay that are told apart; beyond them a refusal is answered, and not logged again. */
const MAX_REFUSALS_REMEMBERED = 1_024;

export class NodeRelay {
  readonly #producer: string;
  readonly #root: X509Certificate;
  readonly #refused = new Set<string>();

  /** @throws when the root can't be read */
  constructor({ producer, rootCertFile }: NonNullable<AuditdConfig["nodeRelay"]>) {
    this.#producer = producer;
    this.#root = new X509Certificate(readFileSync(rootCertFile));
  }

  /** Itself, for the producer that relays; null for any other. */
  of(prod: string): this | null {
    return prod === this.#producer ? this : null;
  }

  /** Resolves once all that could be taken is durable. */
  async take(
    { node, certChain, boot, events }: NodeEvents & { node: string },
    log: AuditLog,
  ): Promise<NodeEventsReply> {
    const prod = nodeProducer(node);
    const leaf = leafOf(certChain, node, this.#root);
    if (leaf === null || !isProducerName.Check(prod) || !isBoot.Check(boot))
      return this.#refuse(prod, events[0], "certificate", log);
    const unsigned = events.findIndex((event) => !isSigned(event, leaf));
    const signed = unsigned < 0 ? events : events.slice(0, unsigned);
    const foreign = signed.findIndex((one) => violationOf(one.event, node, boot) !== null);
    const good = foreign < 0 ? signed : signed.slice(0, foreign);
    const bad = events[good.length];
    const refusal =
      bad === undefined
        ? null
        : good.length === foreign
          ? violationOf(bad.event, node, boot)
          : "signature";
    const first = good[0];
    const entered = first === undefined ? null : enter(log, prod, boot, pseqOf(first.event));
    if (first !== undefined && entered !== null) return this.#refuse(prod, first, entered, log);
    const refused = await this.#submitAll(log, prod, boot, good);
    if (refused === null && refusal !== null) return this.#refuse(prod, bad, refusal, log);
    const last = good.at(-1);
    return {
      settledPseq: refused !== null || last === undefined ? 0 : pseqOf(last.event),
      refused,
    };
  }

  /** Why one is refused so that none may follow it; null when all are settled. */
  async #submitAll(
    log: AuditLog,
    prod: string,
    boot: string,
    events: readonly SignedNodeEvent[],
  ): Promise<string | null> {
    const answers = events.map(
      ({ event, disclosures }) =>
        new Promise<string | null>((resolve) => {
          const sidecar =
            disclosures.length === 0
              ? Buffer.alloc(0)
              : Buffer.from(JSON.stringify(disclosures), "utf8");
          log.submit(prod, boot, Buffer.from(event, "utf8"), sidecar, {
            durable: () => resolve(null),
            refused: (_pseq, { reason }, final) => resolve(final ? reason : null),
          });
        }),
    );
    return (await Promise.all(answers)).find((answer) => answer !== null) ?? null;
  }

  async #refuse(
    prod: string,
    event: SignedNodeEvent | undefined,
    reason: string,
    log: AuditLog,
  ): Promise<NodeEventsReply> {
    const bytes = Buffer.from(event?.event ?? "", "utf8");
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    const isNew =
      !this.#refused.has(`${reason} ${sha256}`) && this.#refused.size < MAX_REFUSALS_REMEMBERED;
    if (isNew) {
      this.#refused.add(`${reason} ${sha256}`);
      await log.record({
        type: "audit.rejected",
        object: { kind: "producer", id: isProducerName.Check(prod) ? prod : this.#producer },
        detail: {
          type: null,
          sha256,
          bytes: bytes.length,
          reason,
          boot: null,
          pseq: null,
          taken: false,
        },
      });
    }
    return { settledPseq: 0, refused: reason };
  }
}

/**
 * The node's certificate of a chain of two, judged by the root alone: signed by an intermediate that the root signed, valid now, and this
 * very node's. Null for any other.
 */
function leafOf(certChain: string, node: string, root: X509Certificate): X509Certificate | null {
  try {
    const [first, second, ...more] = certChain.match(PEM) ?? [];
    if (first === undefined || second === undefined || more.length > 0) return null;
    const [leaf, intermediate] = [new X509Certificate(first), new X509Certificate(second)];
    const now = Date.now();
    const isValid = (cert: X509Certificate) =>
      cert.validFromDate.getTime() <= now && now < cert.validToDate.getTime();
    const isIssued =
      intermediate.ca &&
      intermediate.checkIssued(root) &&
      intermediate.verify(root.publicKey) &&
      !leaf.ca &&
      leaf.checkIssued(intermediate) &&
      leaf.verify(intermediate.publicKey);
    return isIssued && isValid(leaf) && isValid(intermediate) && leaf.subject === `CN=${node}`
      ? leaf
      : null;
  } catch {
    return null;
  }
}

function isSigned({ event, signature }: SignedNodeEvent, leaf: X509Certificate): boolean {
  const key = { key: leaf.publicKey, dsaEncoding: "ieee-p1363" } as const;
  return verify(
    "sha256",
    Buffer.from(`${NODE_EVENT_LABEL}${event}`, "utf8"),
    key,
    Buffer.from(signature, "base64"),
  );
}

/** A node speaks of itself, in types of its own; all else is judged as of any producer. */
function violationOf(text: string, node: string, boot: string): string | null {
  const event = parsed(text);
  if (!NODE_TYPES.has(String(event["type"]))) return "type";
  const actor = event["actor"] as { sub?: unknown; kind?: unknown } | null | undefined;
  if (actor?.sub !== node || actor.kind !== "node") return "actor";
  return event["boot"] === boot ? null : "boot";
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function pseqOf(text: string): number {
  const { pseq } = parsed(text);
  return typeof pseq === "number" ? pseq : 0;
}

/** Lets a node in, or its new life, whose events count from 1: a relay that keeps the first ones back is not let begin later. */
function enter(log: AuditLog, prod: string, boot: string, firstPseq: number): string | null {
  const known = log.ledger.sequence(prod);
  if (known?.boot === boot) return null;
  if (known !== undefined && !known.admitsBoot(boot)) return "boot_superseded";
  if (firstPseq !== 1) return "pseq_gap";
  // The ledger knows it at once; durable it is with the event behind it.
  void log.record({
    type: "audit.producer.start",
    object: { kind: "producer", id: prod },
    detail: {
      boot,
      first_pseq: 1,
      prev_boot: known?.boot ?? null,
      prev_pseq: known?.lastPseq ?? 0,
    },
  });
  return null;
}
