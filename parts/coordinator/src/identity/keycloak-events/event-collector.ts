/**
 * Brings what Keycloak saw into the audit log: every two seconds both of its streams are read on from where the database says. Keycloak keeps events for
 * 90 days, so whoever was down reads what came meanwhile. A row and the event's place in the outbox are one transaction: each stands in the log once.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { committer } from "@resontech/audit/producer";
import type { RecordEvent } from "../../audit-ports.ts";
import { actorAtKeycloak } from "../../authorization/in-the-log.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";
import { findPerson } from "../people-store.ts";
import {
  type AdminEvent,
  adminMeaning,
  type Meaning,
  type SignInEvent,
  signInMeaning,
} from "./decisions/event-meaning.ts";
import { cursorOf, moveCursor, noteEvent, type Stream } from "./event-store.ts";

const POLL_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;
const PAGE = 100;
/** An event gets its time before its transaction ends: a later one may be seen first. Longer than any request of Keycloak's takes. */
const OVERLAP_MS = 60_000;
const SOURCE = "keycloak";
const PATHS: Record<Stream, string> = { "sign-in": "events", admin: "admin-events" };

const DID = {
  "auth.idp.sign-in": "person",
  "auth.idp.account": "person",
  "auth.idp.failure": "somebody",
  "auth.idp.admin": "admin",
} as const;

/** @param from Unix milliseconds; the oldest come first */
export type ReadEvents = (
  stream: string,
  from: number,
  first: number,
  max: number,
) => Promise<unknown[]>;

export type EventCollectorDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  record: RecordEvent;
  events: ReadEvents;
  now: () => number;
};

export class EventCollector implements AsyncDisposable {
  readonly #deps: EventCollectorDeps;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(deps: EventCollectorDeps, onError: (error: unknown) => void) {
    this.#deps = deps;
    this.#running = this.#run(onError);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(onError: (error: unknown) => void): Promise<void> {
    const { signal } = this.#stop;
    let pauseMs = POLL_MS;
    while (!signal.aborted) {
      try {
        await collect(this.#deps);
        pauseMs = POLL_MS;
      } catch (error) {
        // Told once: a Keycloak that is down for an hour fills no log.
        if (pauseMs === POLL_MS) onError(error);
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      }
      await pause(pauseMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Both streams to their end. @throws KeycloakUnreachableError */
export async function collect(deps: EventCollectorDeps): Promise<void> {
  await collectStream(deps, "sign-in", (event) => signInMeaning(event as SignInEvent));
  await collectStream(deps, "admin", (event) => adminMeaning(event as AdminEvent));
}

async function collectStream(
  deps: EventCollectorDeps,
  stream: Stream,
  meaningOf: (event: unknown) => Meaning | null,
): Promise<void> {
  const from = Math.max(0, cursorOf(deps.read, stream) - OVERLAP_MS);
  for (let first = 0; ; first += PAGE) {
    const page = (await deps.events(PATHS[stream], from, first, PAGE)) as {
      id: string;
      time: number;
    }[];
    if (page.length === 0) return;
    await deps.commit.run((db) => {
      for (const event of page) {
        const meaning = meaningOf(event);
        if (noteEvent(db, stream, event.id, event.time) && meaning !== null)
          write(deps, db, meaning, event.time);
      }
      const last = page.reduce((latest, { time }) => Math.max(latest, time), 0);
      // As old as the oldest that this reading began with: later pages of it know all of its ids.
      moveCursor(db, stream, last, from);
    });
    if (page.length < PAGE) return;
  }
}

function write(deps: EventCollectorDeps, db: WriteHandle, meaning: Meaning, time: number): void {
  const { type, subject, username, address, detail } = meaning;
  const commit = committer();
  const person = subject === null ? null : findPerson(deps.read, subject);
  deps.record(
    db,
    {
      ...{ type, phase: "observed", op: randomUUID() },
      actor: actorAtKeycloak(DID[type], person?.userId ?? null),
      ...(address === null ? {} : { src: { addr: commit("src.addr", address.slice(0, 256)) } }),
      object: { kind: "appliance", id: "appliance" },
      ...(username === null
        ? {}
        : {
            pii: [
              { field: "username", commitment: commit("pii.username", username.slice(0, 256)) },
            ],
          }),
      detail: {
        ...{ source: SOURCE, at: new Date(time).toISOString() },
        lag_ms: Math.max(0, deps.now() - time),
        ...detail,
        // Nobody is shown to have tried a name by its being tried.
        ...(type === "auth.idp.failure" && person !== null ? { user: person.userId } : {}),
      },
    },
    commit.disclosures,
  );
}
