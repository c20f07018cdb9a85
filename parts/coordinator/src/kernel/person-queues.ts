import type { WriteHandle } from "../db/open-database.ts";
import { Prepared } from "../db/prepared.ts";
import { pathOf } from "./decisions/shares.ts";
import { PersonQueueFull } from "./errors.ts";
import type { ShareTable } from "./share-table.ts";

type Owner = { userId: string; projectId: string };

/** How many jobs of one person may wait: below each share that limits it. A program of a project counts as the person who answers for it. */
export class PersonQueues {
  readonly #prepared: Prepared;
  readonly #shares: Pick<ShareTable, "limitsQueues" | "all" | "personsBehind">;

  constructor(db: WriteHandle, shares: Pick<ShareTable, "limitsQueues" | "all" | "personsBehind">) {
    this.#prepared = new Prepared(db);
    this.#shares = shares;
  }

  /** Inside the transaction that makes a job no other takes the last place meanwhile. @throws PersonQueueFull */
  requireRoom({ userId, projectId }: Owner): void {
    if (!this.#shares.limitsQueues) return;
    const shares = this.#shares.all();
    const limiting = pathOf(new Map(shares.map((share) => [share.id, share])), projectId).filter(
      ({ personQueued }) => personQueued != null,
    );
    if (limiting.length === 0) return;
    const waiting = this.#waitingOf(userId);
    const parents = new Map(shares.map(({ id, parent }) => [id, parent]));
    for (const { id, personQueued } of limiting) {
      const isBelow = (project: string) => {
        for (let one: string | null | undefined = project; one; one = parents.get(one))
          if (one === id) return true;
        return false;
      };
      const count = waiting.reduce(
        (sum, { project, jobs }) => sum + (isBelow(project) ? jobs : 0),
        0,
      );
      if (count >= personQueued!)
        throw new PersonQueueFull({
          name: shares.find((share) => share.id === id)?.name ?? id,
          limit: personQueued!,
        });
    }
  }

  /** Jobs of the person and of the programs that the person answers for, those that are held among them. */
  #waitingOf(userId: string): { project: string; jobs: number }[] {
    const persons = this.#shares.personsBehind();
    const person = persons.get(userId) ?? userId;
    const users = [person, ...[...persons].flatMap(([id, of]) => (of === person ? [id] : []))];
    return this.#prepared.all<{ project: string; jobs: number }>(
      `SELECT project_id AS project, count(*) AS jobs FROM jobs
       WHERE state IN ('QUEUED', 'HELD') AND ended_at IS NULL AND user_id IN (SELECT value FROM json_each(?)) GROUP BY project_id`,
      JSON.stringify(users),
    );
  }
}
