import { renameSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { ReplicaWish } from "@resontech/contracts/agent-protocol";
import { REPLICA_WISH, type ReplicaWishFile } from "@resontech/contracts/replica-wish";
import type { MemberContext } from "./member-context.ts";

/** Passes what is wished of a replica on to its program, by a file that it looks at. The newest wish alone counts. */
export class ReplicaWishes {
  readonly #member: MemberContext;
  #passed: ReplicaWish | null = null;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  /** Asked several times a second. After a kill the file is written again: it says the same. */
  pass(): void {
    const { journal, enclosure } = this.#member;
    const { wish } = journal.state.desired;
    if (wish === undefined || isDeepStrictEqual(wish, this.#passed)) return;
    const { area } = enclosure;
    const file = area.path("job", REPLICA_WISH);
    const fresh = area.path("job", `${REPLICA_WISH}.fresh`);
    const said: ReplicaWishFile = { formatVersion: 1, ...wish };
    writeFileSync(fresh, JSON.stringify(said), { mode: 0o644 });
    renameSync(fresh, file);
    this.#passed = wish;
  }
}
