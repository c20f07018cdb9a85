/** A request that is refused before anything is done for it leaves one record, durable before the answer. */
import { randomUUID } from "node:crypto";
import { PlainId } from "@resontech/contracts/audit-event";
import { VaultControlRequest } from "@resontech/contracts/vault-control";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { AuditUnavailable } from "@resontech/audit/producer";
import type { Objection } from "../decisions/approval.ts";
import type { VaultParts } from "../parts.ts";
import { VaultRefused } from "../vault-refused.ts";
import { claimedPeople, HOST_OPERATOR } from "./host-command.ts";

type Recording = Pick<VaultParts, "acts" | "outbox" | "record" | "turns">;
/** @property proven whose signature was checked @property requester a name that somebody typed */
type Asked = { verb: VaultControlRequest["verb"]; proven?: string; requester?: string };

const hasVerb = Compile(
  Type.Object({
    verb: Type.Enum(VaultControlRequest.anyOf.map(({ properties }) => properties.verb.const)),
  }),
);
const hasRequester = Compile(Type.Object({ requester: PlainId }));

/**
 * Does what nothing is in the way of, in its turn: a write out of turn waits, and the whole process with it, while the database is made anew.
 * @param objection asked in that turn, too: what it finds stays so
 * @throws VaultRefused once the log has the refusal; AuditUnavailable where it has not within 2 s
 */
export function grantedInTurn<T>(
  parts: Recording,
  asked: Asked,
  objection: () => Objection | null,
  work: () => Promise<T>,
): Promise<T> {
  return parts.turns.run(() => {
    const found = objection();
    return found === null ? work() : refused(parts, asked, found);
  });
}

/** @throws as {@link grantedInTurn}, always */
export function refusedInTurn(
  parts: Recording,
  asked: Asked,
  objection: Objection,
): Promise<never> {
  return parts.turns.run(() => refused(parts, asked, objection));
}

/** Refuses a line that is no request. @throws as {@link grantedInTurn}, always */
export function lineRefusedInTurn(
  parts: Recording,
  line: unknown,
  objection: Objection,
): Promise<never> {
  const asked = {
    verb: hasVerb.Check(line) ? line.verb : null,
    ...(hasRequester.Check(line) ? { requester: line.requester } : {}),
  };
  return parts.turns.run(() => refused(parts, asked, objection));
}

async function refused(
  { acts, outbox, record }: Recording,
  { verb, proven, requester }: Omit<Asked, "verb"> & { verb: Asked["verb"] | null },
  { code, message }: Objection,
): Promise<never> {
  const op = randomUUID();
  try {
    // Nothing is written while auditd is away, as of what is granted.
    void record.connection;
    acts.transaction(() =>
      outbox.write({
        ...({ type: "admin.refused", phase: "fact", op } as const),
        action: verb === null ? "vault" : `vault ${verb}`,
        ...{
          actor: proven === undefined ? HOST_OPERATOR : { ...HOST_OPERATOR, sub: proven },
          object: { kind: "appliance", id: "vault" },
        },
        detail: { reason: code, ...claimedPeople(requester === undefined ? {} : { requester }) },
      }),
    );
    await record.durableInTime(op, "fact");
  } catch (error) {
    if (!(error instanceof AuditUnavailable)) throw error;
    throw new AuditUnavailable(
      error.reason,
      `refused (${code}), and the refusal is not on record: ${error.message}`,
    );
  }
  throw new VaultRefused(code, message);
}
