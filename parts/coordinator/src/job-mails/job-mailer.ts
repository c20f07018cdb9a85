/** Tells people of the ends of their jobs: the notifier sends the mail, Keycloak knows the address. */
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "@resontech/frame/ask";
import { mailToPerson } from "@resontech/notifier/operations";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { KeycloakAccounts } from "../identity/accounts/keycloak-accounts.ts";
import { subjectOf } from "../identity/people-store.ts";
import { endOfJob, nextTry } from "./decisions/end-of-job.ts";
import {
  type DueMail,
  dueMails,
  postpone,
  spreadMailRequests,
  requestMailOfJob,
} from "./mail-request-store.ts";

const LOOK_MS = 5_000;
/** The notifier gives a mail server twenty seconds. */
const ANSWER_MS = 25_000;

export type JobMailerDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  accounts: Pick<KeycloakAccounts, "emailOf">;
  mailSocket: string;
  publicUrl: string;
  now: () => number;
  onError: (error: unknown) => void;
  lookMs?: number;
};

export class JobMailer implements AsyncDisposable {
  readonly #deps: JobMailerDeps;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(deps: JobMailerDeps) {
    this.#deps = deps;
    this.#running = this.#run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#look(signal).catch(this.#deps.onError);
      await pause(this.#deps.lookMs ?? LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { read, commit, now } = this.#deps;
    await commit.run((db) => spreadMailRequests(db, now()));
    for (const mail of dueMails(read, now())) {
      if (signal.aborted) return;
      await this.#tell(mail);
    }
  }

  /** A mail that was taken right before a kill is sent twice: better than not at all. */
  async #tell(mail: DueMail): Promise<void> {
    const { commit, now, onError } = this.#deps;
    const isOver = await this.#send(mail).then(
      () => true,
      (error: unknown) => {
        onError(error);
        return false;
      },
    );
    const again = isOver ? null : nextTry(mail.tries, now());
    await commit.run((db) =>
      again === null
        ? requestMailOfJob(db, mail.userId, mail.jobId, false)
        : postpone(db, mail, again),
    );
  }

  /** Whoever has no address hears nothing. */
  async #send(mail: DueMail): Promise<void> {
    const { read, accounts, mailSocket, publicUrl } = this.#deps;
    const subject = subjectOf(read, mail.userId);
    const to = subject === null ? null : await accounts.emailOf(subject);
    if (to === null) return;
    const request = { to, ...endOfJob(mail, publicUrl) };
    await ask(mailSocket, mailToPerson, request, { timeoutMs: ANSWER_MS });
  }
}
