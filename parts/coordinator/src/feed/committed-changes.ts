import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { RowMatch } from "../db/row-filter.ts";
import type { Changes } from "../kernel/changes.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Feed } from "./feed.ts";

/** Holds what the kernel notes until the transaction is committed, then gives it to the feed; a roll back forgets it. */
export class CommittedChanges implements Changes {
  readonly #commit: GroupCommit;
  readonly #clock: Clock;
  readonly #feed: Feed;
  readonly #ownerOf;

  constructor({
    db,
    commit,
    clock,
    feed,
  }: { db: WriteHandle; commit: GroupCommit; clock: Clock; feed: Feed }) {
    this.#commit = commit;
    this.#clock = clock;
    this.#feed = feed;
    this.#ownerOf = db.prepare<[string], RowMatch>(
      "SELECT project_id AS projectId, user_id AS userId FROM jobs WHERE id = ?",
    );
  }

  note(change: Parameters<Changes["note"]>[0]): void {
    const whose = "job" in change ? this.#ownerOf.get(change.job) : { node: change.node };
    // Nobody may see what is nobody's.
    if (whose === undefined) return;
    const at = this.#clock.now();
    this.#commit.afterCommit(() => this.#feed.publish(change, whose, at));
  }
}
