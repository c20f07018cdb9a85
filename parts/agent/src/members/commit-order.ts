import { renameSync, writeFileSync } from "node:fs";
import { COMMIT_ORDER, type CommitOrderFile } from "@resontech/contracts/runner";
import type { MemberContext } from "./member-context.ts";

/** Passes the order to commit on to the payload, by a file that appears. */
export class CommitOrder {
  readonly #member: MemberContext;
  #isPassed = false;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  /** Asked several times a second. After a kill the file is written again: it says the same. */
  pass(): void {
    const { journal, enclosure } = this.#member;
    if (this.#isPassed || journal.state.commit === null) return;
    const { area } = enclosure;
    const fresh = area.path("job", `${COMMIT_ORDER}.fresh`);
    const said: CommitOrderFile = { formatVersion: 1 };
    writeFileSync(fresh, JSON.stringify(said), { mode: 0o644 });
    renameSync(fresh, area.path("job", COMMIT_ORDER));
    this.#isPassed = true;
  }
}
