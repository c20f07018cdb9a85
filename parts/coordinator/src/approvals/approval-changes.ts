import type { GroupCommit } from "../db/group-commit.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { Feed } from "../feed/feed.ts";
import { findApproval } from "./approval-store.ts";

/** Tells of a request that was made, signed or answered, to whoever may see it. */
export class ApprovalChanges {
  readonly #read: ReadHandle;
  readonly #commit: GroupCommit;
  readonly #feed: Pick<Feed, "publish">;
  readonly #now: () => number;

  constructor(parts: {
    read: ReadHandle;
    commit: GroupCommit;
    feed: Pick<Feed, "publish">;
    now: () => number;
  }) {
    this.#read = parts.read;
    this.#commit = parts.commit;
    this.#feed = parts.feed;
    this.#now = parts.now;
  }

  /** Inside a transaction; told after its commit. */
  note(id: string): void {
    this.#commit.afterCommit(() => {
      const approval = findApproval(this.#read, id);
      if (approval === null) return;
      const { state, requesterId: userId, projectId } = approval;
      const whose = projectId === null ? { userId } : { userId, projectId };
      this.#feed.publish({ kind: "approval", approval: id, state }, whose, this.#now());
    });
  }
}
