import { renameSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import type { ReplicaSpec } from "@resontech/contracts/agent-protocol";
import { REPLICA_SPEC, type ReplicaSpecFile } from "@resontech/contracts/replica-spec";
import type { MemberContext } from "./member-context.ts";

/** Passes what is wished of a replica on to its program, by a file that it looks at. The newest wish alone counts. */
export class ReplicaSpecs {
  readonly #member: MemberContext;
  #passed: ReplicaSpec | null = null;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  /** Asked several times a second. After a kill the file is written again: it says the same. */
  pass(): void {
    const { journal, enclosure } = this.#member;
    const { wish } = journal.state.desired;
    if (wish === undefined || isDeepStrictEqual(wish, this.#passed)) return;
    const { area } = enclosure;
    const file = area.path("job", REPLICA_SPEC);
    const fresh = area.path("job", `${REPLICA_SPEC}.fresh`);
    const said: ReplicaSpecFile = { formatVersion: 1, ...wish };
    writeFileSync(fresh, JSON.stringify(said), { mode: 0o644 });
    renameSync(fresh, file);
    this.#passed = wish;
  }
}
