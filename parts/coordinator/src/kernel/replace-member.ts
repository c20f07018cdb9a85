import type { WriteHandle } from "../db/open-database.ts";
import type { Replacement } from "./decisions/placement.ts";
import { imageOn, workerFactsOf } from "./apply-placement.ts";
import { imagesOf } from "./job-images.ts";
import { BindFailed, MemberMaker, sizeOf } from "./member-maker.ts";
import type { AttemptRow, NodeRow } from "./rows.ts";
import type { KernelTables } from "./kernel-tables.ts";
import type { Transitions } from "./transitions.ts";

/** Gives a lost member's place in a running attempt to a new member. The lost one keeps its row, and its workers until it has proven release. */
export class Replacements {
  readonly #db: WriteHandle;
  readonly #tables: KernelTables;
  readonly #transitions: Transitions;
  readonly #maker: MemberMaker;

  constructor(db: WriteHandle, tables: KernelTables, transitions: Transitions) {
    this.#db = db;
    this.#tables = tables;
    this.#transitions = transitions;
    this.#maker = new MemberMaker(db, tables);
  }

  /**
   * Inside a transaction. False when the place is no longer vacant.
   * @throws BindFailed when a worker was taken or its node went away; the transaction must be rolled back
   */
  apply({ job: jobId, member: lostId, workers: workerIds }: Replacement): boolean {
    const { jobs, commands, workloads } = this.#tables;
    const vacancy = this.#transitions.vacancies(jobId).find(({ member }) => member.id === lostId);
    const job = jobs.get(jobId);
    const attempt = jobs.liveAttempt(jobId);
    if (vacancy === undefined || job === undefined || attempt === undefined) return false;
    const held = workerIds.map((id) => this.#maker.freeWorker(id));
    const node = this.#maker.readyNode(held[0]!.node_id);
    const home = this.#openBridge(attempt, node.id);
    const index = vacancy.member.shard_index!;
    const plan = workloads.of(job).place(job, index, workerFactsOf(held), sizeOf(node));
    const id = this.#maker.create(job, attempt.id, {
      node: node.id,
      plan,
      place: { index, workers: workerIds },
      replaces: lostId,
      image: imageOn(imagesOf(job), held),
    });
    this.#transitions.startDeadline(id);
    jobs.note(jobId, vacancy.spending);
    commands.desiredChanged(node.id);
    if (home !== node.id) commands.desiredChanged(home);
    return true;
  }

  /** An attempt that lay on one node gets its port for others. @returns the hub's node */
  #openBridge(attempt: AttemptRow, nodeId: string): string {
    const { members, bridges } = this.#tables;
    const home = members.ofAttempt(attempt.id).find(({ is_lead }) => is_lead === 1)!.node_id;
    if (home === nodeId || attempt.bridge_port !== null) return home;
    // Its server runs there whether or not the node would be given new work.
    const port = bridges.freePort(
      this.#db.prepare<[string], NodeRow>("SELECT * FROM nodes WHERE id = ?").get(home)!,
      "nodes",
    );
    if (port === null) throw new BindFailed(`node ${home} has no job port left`);
    this.#db
      .prepare("UPDATE attempts SET bridge_node = ?, bridge_port = ? WHERE id = ?")
      .run(home, port, attempt.id);
    return home;
  }
}
