import { randomUUID } from "node:crypto";
import { type AuditProducer, composeEvent } from "@resontech/audit/producer";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { Disclosure } from "@resontech/contracts/audit-event";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";
import { nextGeneration } from "./decisions/generation.ts";
import { COORDINATOR_ACTOR } from "../authorization/in-the-log.ts";
import { recordBoot } from "./record-outbox.ts";

type OutboxRow = { pseq: number; event: string; disclosures: string };

/**
 * Settles under which generation this process gives out fences, and logs it, before anything listens.
 * @param onChange voids what older generations gave out, in the same transaction
 * @returns the generation
 */
export async function beginGeneration(
  {
    db,
    commit,
    meta,
    gate,
  }: { db: WriteHandle; commit: GroupCommit; meta: Meta; gate: AuditProducer },
  version: string,
  onChange: () => void,
): Promise<number> {
  const { highestGeneration } = await gate.status();
  const own = meta.number("generation");
  const generation = nextGeneration(own, highestGeneration);
  if (generation !== own)
    await commit.run(() => {
      meta.set("generation", generation);
      restateBacklog(db, meta, generation);
      if (own !== 0) onChange();
    });
  await gate.fact({
    type: "admin.coordinator.start",
    op: randomUUID(),
    actor: COORDINATOR_ACTOR,
    object: { kind: "process", id: "coordinator" },
    detail: { generation, version },
  });
  return generation;
}

/** Records that the older life did not get rid of are told by the new one: auditd takes nothing of an ended life. */
function restateBacklog(db: WriteHandle, meta: Meta, generation: number): void {
  const rows = db
    .prepare<[], OutboxRow>("SELECT pseq, event, disclosures FROM audit_outbox ORDER BY pseq")
    .all();
  db.prepare("DELETE FROM audit_outbox").run();
  meta.set("record-pseq", 0);
  const insert = db.prepare(
    "INSERT INTO audit_outbox (pseq, event, disclosures, created_at) VALUES (?, ?, ?, ?)",
  );
  for (const row of rows) {
    const {
      v: _v,
      id: _id,
      t,
      boot: _boot,
      pseq: _pseq,
      schema_sha256: _schema,
      ...draft
    } = JSON.parse(row.event) as EventDraft & {
      [stamp in "v" | "id" | "t" | "boot" | "pseq" | "schema_sha256"]: string;
    };
    const nowMs = Date.parse(t);
    const pseq = meta.next("record-pseq");
    const composed = composeEvent(
      draft,
      { boot: recordBoot(generation), pseq, nowMs },
      JSON.parse(row.disclosures) as Disclosure[],
    );
    insert.run(composed.pseq, composed.event, JSON.stringify(composed.disclosures), nowMs);
  }
}
