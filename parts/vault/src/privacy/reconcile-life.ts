/**
 * What a database that was put back has under way, or still to say, and the log has ended since: it becomes what the log has of it, before anything is
 * said in the new life. Killed in between, it is settled by the next connection.
 */
import type { AuditConnection, SaidOfOperation } from "@resontech/audit/producer";
import { awaitsFact, endingOf, outcomeIn } from "../decisions/ended.ts";
import type { VaultParts } from "../parts.ts";
import type { Act, Acts } from "../record/acts.ts";
import type { Erasures } from "./erasure.ts";
import type { Retention } from "./retention.ts";

type Destroyers = { erasures: Erasures; retention: Retention };

/** @throws AuditUnavailable */
export async function reconcileLife(
  { acts, outbox, turns, log }: VaultParts,
  { erasures, retention }: Destroyers,
  connection: AuditConnection,
): Promise<void> {
  if (!outbox.isUnsettled) return;
  const ops = new Set([...acts.underWay(), ...outbox.unsent].map(({ op }) => op));
  const open = new Set((await connection.openOperations()).map(({ op }) => op));
  const said = Map.groupBy(
    await connection.findOutcomes([...ops], outbox.knownUpTo),
    ({ op }) => op,
  );
  await turns.run(async () => {
    // The log lacks the request itself: that is still to be said.
    const unasked = new Set(
      outbox.unsent.flatMap(({ op, phase }) =>
        phase === "requested" && !said.has(op) ? [op] : [],
      ),
    );
    const ended = acts
      .underWay()
      .filter(({ op }) => ops.has(op) && !open.has(op) && !unasked.has(op));
    acts.transaction(() => {
      for (const one of [...said.values()].flat()) outbox.noteSaid(one);
    });
    for (const act of ended) {
      const its = said.get(act.op) ?? [];
      const ending = endingOf(act, its);
      log.warn(
        { op: act.op, kind: act.kind, state: act.state, outcome: outcomeIn(its), ending },
        "the log has ended this act",
      );
      if (ending !== "destroy") continue;
      const logged = { detail: detailOf(its), awaitsFact: awaitsFact(act, its) };
      await (act.kind === "erasure" ? erasures : retention).again(act.op, logged);
    }
    acts.transaction(() => {
      for (const act of ended) end(acts, act, said.get(act.op) ?? []);
      outbox.settle(said, open);
    });
  });
}

function end(acts: Acts, act: Act, said: readonly SaidOfOperation[]): void {
  const ending = endingOf(act, said);
  // What was destroyed once more stands where that took it; the fact that is still to be said ends the other.
  if (ending === "destroy" || ending === "confirm") return;
  if (act.kind === "hold" && ending === "done") holdAsLogged(acts, act);
  if (act.kind === "disclose" && mayHaveOpened(said))
    acts.noteDisclosed(act.op, String(act.request["origin"]));
  acts.advance(act.op, ending);
}

function holdAsLogged(acts: Acts, { op, subject, request }: Act): void {
  const { hold, lift } = request as { hold: string; lift: boolean };
  if (lift) acts.liftHold(hold);
  else if (subject !== null && acts.subjectOfHold(hold) === null) acts.setHold(op, hold, subject);
}

/** One that failed may have handed values out before. */
function mayHaveOpened(said: readonly SaidOfOperation[]): boolean {
  return outcomeIn(said) !== "denied" && detailOf(said)["commitments"] !== 0;
}

function detailOf(said: readonly SaidOfOperation[]): Record<string, unknown> {
  return said.find(({ phase }) => phase === outcomeIn(said))?.detail ?? {};
}
