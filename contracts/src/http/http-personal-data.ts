/** `GET /api/people/:id/data`: a line of JSON for each thing that is held about a person. Instants are RFC 3339. */
import type { AuditEventsReply } from "./http-audit.ts";

export type PersonalDataLine =
  | {
      /** The first line. */
      part: "about";
      /** The person's pseudonym in the audit log. */
      person: string;
      at: string;
      /** `own`: entries of the log by the person and for the person. `all`: those about the person, too. */
      entries: "own" | "all";
      /** What is held, and is not in here. */
      leftOut: readonly string[];
    }
  | ({ part: "user" } & Record<string, string | null>)
  /** As Keycloak has it, without any credential; null where it has none. */
  | { part: "account"; account: object | null }
  | { part: "entry"; entry: AuditEventsReply["events"][number] }
  /** The last line: without it the answer is not whole. @property lines all before it */
  | { part: "end"; lines: number }
  /** A row of the coordinator; `part` says of what. */
  | ({ part: string } & Record<string, string | number | null>);
