/** Tells people of the ends of their jobs, when one makes way, and when its node is wanted for something else: the notifier sends the mail, Keycloak knows the address. */
import { setTimeout as pause } from "node:timers/promises";
import { ask } from "@resontech/frame/ask";
import { mailToPerson } from "@resontech/notifier/operations";
import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { KeycloakAccounts } from "../identity/accounts/keycloak-accounts.ts";
import { subjectOf } from "../identity/people-store.ts";
import { calendarNewsRows, forgetCalendarNews } from "./calendar-news-store.ts";
import { calendarMail } from "./decisions/calendar-mail.ts";
import { endOfJob, nextTry } from "./decisions/end-of-job.ts";
import { idleMail } from "./decisions/idle-mail.ts";
import { madeWayMail } from "./decisions/made-way-mail.ts";
import { idleWarnings } from "./idle-warnings.ts";
import {
  type MadeWayRow,
  newestWay,
  noteWaysTold,
  readersOfWay,
  waysAfter,
  waysToldUpTo,
} from "./made-way-store.ts";
import {
  type DueMail,
  dueMails,
  postpone,
  spreadMailRequests,
  requestMailOfJob,
} from "./mail-request-store.ts";

const LOOK_MS = 5_000;
/** A mail about a job that made way is tried so often, while the job waits. */
const WAY_RETRY_MS = 60_000;
/** The notifier gives a mail server twenty seconds. */
const ANSWER_MS = 25_000;

export type JobMailerDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  accounts: Pick<KeycloakAccounts, "emailOf">;
  mailSocket: string;
  publicUrl: string;
  now: () => number;
  /** When a job that waits is expected to have workers; null where nobody knows. */
  expectedStart: (job: string) => Promise<number | null>;
  onError: (error: unknown) => void;
  lookMs?: number;
};

export class JobMailer implements AsyncDisposable {
  readonly #deps: JobMailerDeps;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #waysNotBefore = 0;
  #newsNotBefore = 0;
  readonly #toldIdle = new Set<string>();

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
    const at = now();
    await commit.run((db) => spreadMailRequests(db, at));
    for (const mail of dueMails(read, at)) {
      if (signal.aborted) return;
      await this.#tell(mail);
    }
    await this.#tellIdle(signal);
    if (at >= this.#waysNotBefore) await this.#tellWays(signal);
    if (at >= this.#newsNotBefore) await this.#tellCalendar(signal);
  }

  /** Each warning once while it stands. A restart in between may tell it twice. */
  async #tellIdle(signal: AbortSignal): Promise<void> {
    const { read, publicUrl, onError } = this.#deps;
    const warnings = idleWarnings(read);
    const standing = new Set(warnings.map(({ jobId }) => jobId));
    for (const jobId of this.#toldIdle) if (!standing.has(jobId)) this.#toldIdle.delete(jobId);
    for (const warning of warnings) {
      const { jobId } = warning;
      if (signal.aborted || this.#toldIdle.has(jobId)) continue;
      try {
        for (const { userId } of readersOfWay(read, { jobId, byJob: jobId }))
          await this.#mail(userId, idleMail(warning, publicUrl));
        this.#toldIdle.add(jobId);
      } catch (error) {
        // The next look tries again, while the warning stands.
        onError(error);
        return;
      }
    }
  }

  /** In the order of the decisions. What came before the first look is not told. */
  async #tellWays(signal: AbortSignal): Promise<void> {
    const { read, commit, now, onError } = this.#deps;
    const upTo = waysToldUpTo(read);
    if (upTo === null) return commit.run((db) => noteWaysTold(db, newestWay(read)));
    for (const way of waysAfter(read, upTo)) {
      if (signal.aborted || way.isLeaving) return;
      try {
        // One that has workers again needs no mail.
        if (way.isWaiting) await this.#tellWay(way);
      } catch (error) {
        onError(error);
        this.#waysNotBefore = now() + WAY_RETRY_MS;
        return;
      }
      await commit.run((db) => noteWaysTold(db, way.id));
    }
  }

  async #tellCalendar(signal: AbortSignal): Promise<void> {
    const { read, commit, now, onError, publicUrl } = this.#deps;
    for (const news of calendarNewsRows(read)) {
      if (signal.aborted) return;
      try {
        const readers = news.isNews ? readersOfWay(read, { jobId: news.jobId, byJob: "" }) : [];
        for (const { userId } of readers) await this.#mail(userId, calendarMail(news, publicUrl));
      } catch (error) {
        onError(error);
        this.#newsNotBefore = now() + WAY_RETRY_MS;
        return;
      }
      await commit.run((db) => forgetCalendarNews(db, news.id));
    }
  }

  async #tellWay(way: MadeWayRow): Promise<void> {
    const { read, publicUrl, expectedStart } = this.#deps;
    for (const { userId, project } of readersOfWay(read, way)) {
      const facts = { ...way, project, expectedStart: await expectedStart(way.jobId) };
      await this.#mail(userId, madeWayMail(facts, publicUrl));
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

  async #send(mail: DueMail): Promise<void> {
    await this.#mail(mail.userId, endOfJob(mail, this.#deps.publicUrl));
  }

  /** Whoever has no address hears nothing. */
  async #mail(userId: string, mail: { subject: string; text: string }): Promise<void> {
    const { read, accounts, mailSocket } = this.#deps;
    const subject = subjectOf(read, userId);
    const to = subject === null ? null : await accounts.emailOf(subject);
    if (to === null) return;
    await ask(mailSocket, mailToPerson, { to, ...mail }, { timeoutMs: ANSWER_MS });
  }
}
