/** What keeps work from going on, as the coordinator sees it. Pure. */
import {
  fault,
  type Finding,
  type FindingFacts,
  lagFindings,
  warning,
} from "@resontech/frame/finding";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { toldSpan } from "@resontech/frame/told-quantities";

const AUDIT_WAIT_MS = 10_000;

export function workFindings(facts: FindingFacts): Finding[] {
  return facts.health === null ? silenceFindings(facts) : healthFindings(facts.health);
}

/** A coordinator that is not healthy has a finding of its own already. */
function silenceFindings({ isHealthy, logOf }: FindingFacts): Finding[] {
  if (!isHealthy("coordinator")) return [];
  return [
    fault(
      "coordinator_silent",
      "the coordinator does not say how it is: nothing is known of nodes, object store and audit log",
      `ask again; if it lasts, look at the end of ${logOf("coordinator")}`,
    ),
  ];
}

function healthFindings(health: CoordinatorHealth): Finding[] {
  const { audit, bus, database, storage, loopLagMs, brake } = health;
  const found: Finding[] = [];
  if (bus === "down")
    found.push(
      fault("bus_down", "the coordinator has lost NATS: no node is heard", "look at part nats"),
    );
  if (database !== "ok")
    found.push(
      fault(
        database === "full" ? "database_full" : "database_fails",
        `the coordinator can't write its database: its disk ${database === "full" ? "is full" : "fails"}; nothing is lost, nothing goes on`,
        database === "full"
          ? "make space where the database lies; work goes on by itself"
          : "look at the disk and the kernel's log",
      ),
    );
  if (storage === "unavailable")
    found.push(
      fault(
        "storage_down",
        "the object store does not answer",
        "look at part s3 and its disk; submissions and uploads fail until then",
      ),
    );
  const { planRecords = "ok" } = health;
  if (planRecords !== "ok")
    found.push(
      warning(
        "plans_unrecorded",
        `plans of the scheduler are not recorded: the coordinator's disk ${planRecords === "full" ? "is full" : "fails"}; jobs are placed all the same`,
        planRecords === "full"
          ? "make space where the database lies; a later plan is recorded again"
          : "look at the disk, and at the coordinator's log",
      ),
    );
  if (audit.state === "away")
    found.push(
      fault(
        "audit_away",
        "auditd does not answer: nothing that must be logged is done",
        "look at part auditd and the disk of the log",
      ),
    );
  if (audit.state === "halted")
    found.push(
      fault(
        "audit_halted",
        "the audit log has no place for a record: no new work is taken",
        "keep the log as it is and call the vendor",
      ),
    );
  if (audit.state === "draining")
    found.push(
      fault(
        "audit_draining",
        "running jobs may end, new ones are refused: the log is behind or its disk nearly full",
        "make space where the log lies",
      ),
    );
  else if (audit.oldestWaitMs > AUDIT_WAIT_MS)
    found.push(
      warning(
        "audit_behind",
        `${audit.waiting} records wait for the log, ${toldSpan(audit.oldestWaitMs)} so far`,
        "look at auditd and its disk",
      ),
    );
  found.push(
    ...lagFindings("coordinator_slow", "the coordinator", loopLagMs),
    ...lagFindings("auditd_slow", "auditd", audit.loopLagMs),
  );
  if (brake !== null)
    found.push(
      fault(
        "nodes_not_judged",
        `nodes are silent, and none is given up: ${BRAKES[brake] ?? brake}`,
        "look at this host and its network first, then at the nodes",
      ),
    );
  return found;
}

const BRAKES: Readonly<Record<string, string>> = {
  own_lag: "the coordinator itself is late",
  many_suspect: "too many at once, so the fault is not theirs",
};
