/** What is wrong with an appliance, and what the operator should do about each. Pure: from what `appliance status` has read. */
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { CoordinatorHealth, NodeHealth } from "@resontech/contracts/coordinator-health";
import type { BackupFacts } from "../../backup/read-backup-facts.ts";
import { DISK_LADDER, diskStep, NODE_LADDER } from "@resontech/contracts/disk-ladder";
import { refusesBelow, type ReserveState, warnsBelow } from "@resontech/contracts/log-reserve";
import type { VaultHealth } from "@resontech/contracts/vault-control";
import { knownEscapes, RUNC_REMEDY, type RuncVersion } from "../../runc/known-escapes.ts";
import type { RealmFacts } from "../../keycloak/realm-watch.ts";
import type { PartStatus } from "../../supervisor/supervisor.ts";

export type Finding = {
  /** `fault`: something does not work; `warning`: it works, and will not for long or not as it should. */
  severity: "fault" | "warning";
  code: string;
  what: string;
  todo: string;
};

/** A file system and what of the appliance lies on it. */
export type DiskFacts = {
  holds: readonly string[];
  path: string;
  totalBytes: number;
  freeBytes: number;
  totalInodes: number;
  freeInodes: number;
  /** Where the audit log lies: the room that it holds back. Null elsewhere, and before the first start. */
  logReserve: ReserveState | null;
};

export type CertificateFacts = { file: string; daysLeft: number };

export type StatusFacts = {
  parts: readonly PartStatus[];
  /** Null while the coordinator does not answer. */
  health: CoordinatorHealth | null;
  /** Of the S3 front's event loop, milliseconds; null while it does not answer. */
  frontLagMs: number | null;
  /** The audit log is older than what was seen of it. */
  rolledBack: LogStatus["rolledBack"];
  /** Null while it does not answer. */
  vault: VaultHealth | null;
  disks: readonly DiskFacts[];
  certificates: readonly CertificateFacts[];
  /** Null where Keycloak's realm was not compared yet. */
  realm: RealmFacts | null;
  /** Null where no backups are scheduled. */
  backups: BackupFacts | null;
  /** Of this host; null when it can't be asked. */
  runc: RuncVersion | null;
  logOf: (part: string) => string;
};

const GIB = 1024 ** 3;
/** A second is usual. */
const BEHIND_S = 10;
const LOOP_LAG_MS = 1_000;
const AUDIT_WAIT_MS = 10_000;
const CLOCK_STEP_RECENT_MS = 24 * 3_600_000;
/** A certificate is told of at these many days before its end, ever louder. */
const CERTIFICATE_DAYS = { told: 90, soon: 60, now: 30 };
const DAY_MS = 86_400_000;

export function findingsOf(facts: StatusFacts): Finding[] {
  const {
    parts,
    health,
    frontLagMs,
    rolledBack,
    vault,
    disks,
    certificates,
    realm,
    backups,
    runc,
    logOf,
  } = facts;
  const found = [
    ...(rolledBack === null ? [] : [rolledBackFinding(rolledBack)]),
    ...(vault === null ? [] : vaultFindings(vault, logOf("vault"))),
    ...parts.flatMap((part) => partFinding(part, logOf(part.name)) ?? []),
    ...(health === null
      ? coordinatorSilence(parts, logOf)
      : [...coordinatorFindings(health), ...health.nodes.flatMap(nodeFindings)]),
    ...lagFinding("s3_front_slow", "the S3 front", frontLagMs),
    ...disks.flatMap(diskFindings),
    ...certificates.flatMap((certificate) => certificateFinding(certificate) ?? []),
    ...(realm === null ? [] : realmFindings(realm)),
    ...(backups === null ? [] : backupFindings(backups)),
    ...peopleFindings(health),
    ...(runc === null ? [] : runcFindings(runc)),
  ];
  return found.toSorted(
    (a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"),
  );
}

function rolledBackFinding({
  origin,
  seenSize,
  by,
}: NonNullable<LogStatus["rolledBack"]>): Finding {
  const unsaid: Partial<Record<string, string>> = {
    keys: `the keys of ${origin} are gone: another shard followed it, or it was put back on another host`,
    restore: `it was restored, and no witness says what it had seen of ${origin}`,
    opening: `an opening of another shard after ${origin} was broken off`,
  };
  const why = unsaid[by] ?? `${by} has seen ${seenSize} entries of ${origin}`;
  return {
    severity: "fault",
    code: "audit_rolled_back",
    what: `the audit log was put back to an older state (${why}): it takes nothing`,
    todo: "let two people agree, then: appliance audit open-shard --approver A --approver B",
  };
}

function realmFindings({ differences, first }: RealmFacts): Finding[] {
  if (differences === 0) return [];
  return [
    fault(
      "realm_drift",
      `Keycloak's realm differs from the release in ${differences} places: ${first.join(", ")}`,
      "look at them: appliance identity diff; then: appliance identity apply. Find out who changed it: resontech audit search --type auth.idp.admin",
    ),
  ];
}

function backupFindings(facts: BackupFacts): Finding[] {
  return [...overdueFindings(facts), ...behindFindings(facts)];
}

function behindFindings({ target, followed }: BackupFacts): Finding[] {
  if (followed === null || followed.behindS <= BEHIND_S) return [];
  const why = followed.failure === null ? "" : ` (${followed.failure})`;
  return [
    warning(
      "backup_behind",
      `what was done in the last ${followed.behindS} s is not on ${target} yet${why}: it would be lost with this host`,
      `look that ${target} is mounted, has room and is fast enough: appliance logs follower`,
    ),
  ];
}

function overdueFindings({ target, isOverdue, takenAtMs, failure }: BackupFacts): Finding[] {
  if (!isOverdue) return [];
  const last =
    takenAtMs === null ? "there is none" : `the last is of ${new Date(takenAtMs).toISOString()}`;
  return [
    warning(
      "backup_overdue",
      `no backup into ${target} was taken for twice the time of the schedule; ${last}${failure === null ? "" : `, and the newest try failed: ${failure}`}`,
      `look that ${target} is mounted and has room, then try one: appliance backup take ${target}`,
    ),
  ];
}

function peopleFindings(health: CoordinatorHealth | null): Finding[] {
  const { requested = [], left = [], givenNothing = [], restored = [] } = health?.people ?? {};
  return [
    ...restored.map(({ userId, username, restoredAt }) =>
      warning(
        "administrator_restored",
        `${username} was made administrator at this host at ${restoredAt}, without two people`,
        `a second person with a role of the whole appliance says that it was right: resontech approvals acknowledge ${userId}`,
      ),
    ),
    ...givenNothing.map(({ username, group, project }) =>
      warning(
        "group_conflict",
        `the group ${group} would make the auditor ${username} a member of project ${project}, and gives nothing`,
        `take the person out of the group, or the mapping away: appliance identity unmap ${group}`,
      ),
    ),
    ...requested.map(({ username, role }) =>
      warning(
        "role_requested",
        `a group of the directory would make ${username} ${role}, which no group gives`,
        "give the role to the person, or take the group's mapping away: appliance identity unmap GROUP",
      ),
    ),
    ...left.map((username) =>
      warning(
        "person_left",
        `the account of ${username} is gone or disabled where it was kept: sessions and keys are refused, and key pairs go within a minute`,
        `if it is meant, end the user here too: appliance user disable ${username}`,
      ),
    ),
  ];
}

function vaultFindings(
  { fault: its, holdsInDoubt, awaitsClock }: VaultHealth,
  log: string,
): Finding[] {
  if (holdsInDoubt)
    return [
      fault(
        "vault_holds",
        "the vault's database was put back and may lack legal holds: nothing is erased, neither by request nor by age",
        "set the holds again that the log has (resontech audit search --type privacy.hold), then: appliance privacy confirm-holds",
      ),
    ];
  if (its === null)
    return awaitsClock
      ? [
          warning(
            "vault_clock",
            "personal values that are past their retention are kept: nobody vouches for the clock",
            "look that time synchronization runs; without it, when the clock is right: appliance audit clock-is-right",
          ),
        ]
      : [];
  if (its.code === "spool_blocked")
    return [
      fault(
        "vault_blocked",
        `personal values are not sealed, and none can be erased: ${its.message}`,
        "look at the disk of the log. If that file is damaged for good: appliance stop, move it out of its folder, appliance start; what it opens is lost",
      ),
    ];
  return [
    fault("vault_fails", `the vault's own work fails: ${its.message}`, `look at the end of ${log}`),
  ];
}

function partFinding(
  { name, phase, isHeld, lastExit, restarts }: PartStatus,
  log: string,
): Finding | null {
  const at = `the end of ${log}`;
  if (isHeld)
    return warning(
      "part_stopped",
      `${name} was stopped by the operator`,
      `start it: appliance start ${name}`,
    );
  switch (phase) {
    case "healthy":
      return restarts >= 3
        ? warning(
            "part_restarts",
            `${name} has ended ${restarts} times (${lastExit ?? "?"})`,
            `look at ${at}`,
          )
        : null;
    case "unhealthy":
      return fault(
        "part_silent",
        `${name} runs and does not answer`,
        `it is started afresh after a minute; look at ${at}`,
      );
    case "exited":
      return fault(
        "part_down",
        `${name} has ended (${lastExit ?? "?"})`,
        `it is started again by itself; look at ${at}`,
      );
    case "idle":
    case "starting":
    case "stopping":
      return warning(
        "part_not_ready",
        `${name} is ${phase === "idle" ? "waiting for others" : phase}`,
        "wait; ask again in a minute",
      );
  }
}

/** A coordinator that is not healthy has a finding of its own already. */
function coordinatorSilence(parts: readonly PartStatus[], logOf: StatusFacts["logOf"]): Finding[] {
  if (!parts.some(({ name, phase }) => name === "coordinator" && phase === "healthy")) return [];
  return [
    fault(
      "coordinator_silent",
      "the coordinator does not say how it is: nothing is known of nodes, object store and audit log",
      `ask again; if it lasts, look at the end of ${logOf("coordinator")}`,
    ),
  ];
}

function coordinatorFindings(health: CoordinatorHealth): Finding[] {
  const { audit, bus, database, storage, loopLagMs, brake, clockStep, plannedStopUntil } = health;
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
        `${audit.waiting} records wait for the log, ${seconds(audit.oldestWaitMs)} so far`,
        "look at auditd and its disk",
      ),
    );
  found.push(
    ...lagFinding("coordinator_slow", "the coordinator", loopLagMs),
    ...lagFinding("auditd_slow", "auditd", audit.loopLagMs),
  );
  if (brake !== null)
    found.push(
      fault(
        "nodes_not_judged",
        `nodes are silent, and none is given up: ${BRAKES[brake] ?? brake}`,
        "look at this host and its network first, then at the nodes",
      ),
    );
  if (clockStep !== null && clockStep.agoMs < CLOCK_STEP_RECENT_MS)
    found.push(
      warning(
        "clock_set",
        `the clock was set by ${seconds(clockStep.stepMs)}, ${seconds(clockStep.agoMs)} ago; deadlines have moved along`,
        "look that time synchronization runs",
      ),
    );
  found.push(...health.endingKeys.map(keyFinding));
  found.push(...(health.endingAccounts ?? []).map(accountFinding));
  found.push(...(health.orphanedAccounts ?? []).map(orphanFinding));
  if (!health.hasApprover)
    found.push(
      warning(
        "single_person",
        "nobody could approve what needs a second person: such actions are done alone, and marked so",
        "make a security officer: resontech approvals request role USER security-officer",
      ),
    );
  if (plannedStopUntil !== null)
    found.push(
      warning(
        "planned_stop",
        `leases are long until ${plannedStopUntil}: a lost node is given up only then`,
        "when the work is done: appliance start",
      ),
    );
  return found;
}

function lagFinding(code: string, who: string, lagMs: number | null): Finding[] {
  if (lagMs === null || lagMs <= LOOP_LAG_MS) return [];
  const what = `${who} was ${seconds(lagMs)} late within the last minutes`;
  return [warning(code, what, "look for what else uses this host's CPU or disk")];
}

const BRAKES: Readonly<Record<string, string>> = {
  own_lag: "the coordinator itself is late",
  many_suspect: "too many at once, so the fault is not theirs",
};

function nodeFindings(health: NodeHealth): Finding[] {
  const { node, state, silentMs, loopLagMs, cordonReason, quarantined, unhealthy = [] } = health;
  const { diskFreeBytes, hasDisk, refused } = health;
  const found: Finding[] = [];
  // It is silent because it is refused: nobody need look at its network.
  if (refused !== undefined)
    found.push(
      fault(
        "agent_refused",
        `node ${node} takes no work: ${refused}`,
        `to upgrade the node, run on it what \`appliance node add ${node}\` prints`,
      ),
    );
  const silence =
    silentMs === null ? "was not heard since the start" : `silent for ${seconds(silentMs)}`;
  if (state === "DEAD" && refused === undefined)
    found.push(
      fault(
        "node_dead",
        `node ${node}: ${silence}; its jobs went elsewhere`,
        "look at the node and its network; it comes back by itself",
      ),
    );
  if (state === "SUSPECT" && refused === undefined)
    found.push(
      warning("node_silent", `node ${node}: ${silence}`, "it is given up 40 s after its last beat"),
    );
  if (loopLagMs !== null && loopLagMs > LOOP_LAG_MS)
    found.push(
      warning(
        "node_slow",
        `the agent of node ${node} was ${seconds(loopLagMs)} late within the last minutes`,
        "look for what else uses that host's CPU or disk",
      ),
    );
  if (cordonReason !== null)
    found.push(
      warning(
        "node_cordoned",
        `node ${node} takes no work: ${cordonReason}`,
        `when it is well: appliance node undrain ${node}`,
      ),
    );
  for (const { worker, reason } of quarantined)
    found.push(
      fault(
        "worker_quarantined",
        `worker ${worker} did not prove its release (${reason})`,
        `look for processes on its device, then let node ${node} join again`,
      ),
    );
  for (const { worker, reason, onTrial = false } of unhealthy)
    found.push(
      onTrial
        ? warning(
            "worker_on_trial",
            `worker ${worker} takes no work yet: ${reason}`,
            "wait; ask again in a minute",
          )
        : fault(
            "worker_unhealthy",
            `worker ${worker} takes no work: ${reason}`,
            `look at its device: appliance node show ${node}; when it is well: appliance node undrain ${node}`,
          ),
    );
  if (diskFreeBytes !== null && !hasDisk)
    found.push(
      fault(
        "node_disk_full",
        `node ${node} is given no work: its disk has ${size(diskFreeBytes)} left`,
        "make space where its agent keeps its data; jobs go on by themselves",
      ),
    );
  else if (diskFreeBytes !== null && diskFreeBytes < NODE_LADDER.lowBytes)
    found.push(
      warning(
        "node_disk_low",
        `node ${node} has ${size(diskFreeBytes)} left for jobs`,
        "make space where its agent keeps its data",
      ),
    );
  return found;
}

function diskFindings({
  holds,
  path,
  totalBytes,
  freeBytes,
  totalInodes,
  freeInodes,
  logReserve,
}: DiskFacts): Finding[] {
  const what = `${holds.join(", ")} (${path})`;
  const step = diskStep({ totalBytes, freeBytes });
  const left = `${size(freeBytes)} of ${size(totalBytes)} left for ${what}`;
  if (step === "full")
    return [
      fault("disk_full", left, "make space now: what can't be written is refused, nothing is lost"),
    ];
  // Some file systems count no inodes.
  if (totalInodes > 0 && freeInodes < totalInodes * DISK_LADDER.full.share)
    return [
      fault(
        "inodes_full",
        `${freeInodes} of ${totalInodes} files left for ${what}`,
        "remove files that are not the appliance's",
      ),
    ];
  if (logReserve !== null && freeBytes < warnsBelow(logReserve))
    return [
      warning(
        "disk_low",
        `${left}; below ${size(refusesBelow(logReserve))} the audit log has new jobs refused`,
        "make space, or give it a larger disk",
      ),
    ];
  return step === "low" ? [warning("disk_low", left, "make space, or give it a larger disk")] : [];
}

function keyFinding({
  key,
  username,
  expiresAt,
}: CoordinatorHealth["endingKeys"][number]): Finding {
  const daysLeft = (Date.parse(expiresAt) - Date.now()) / DAY_MS;
  const what =
    daysLeft <= 0
      ? `key ${key} of ${username} has expired`
      : `key ${key} of ${username} expires in ${Math.floor(daysLeft)} days`;
  return (daysLeft <= 0 ? fault : warning)(
    "key_expiring",
    what,
    `the same key goes on after: appliance key renew ${key}`,
  );
}

/** It has no second life: whoever leads the project makes another one, with a key of its own. */
function accountFinding({
  account,
  name,
  project,
  expiresAt,
}: NonNullable<CoordinatorHealth["endingAccounts"]>[number]): Finding {
  const daysLeft = (Date.parse(expiresAt) - Date.now()) / DAY_MS;
  const what = `service account ${name} (${account}) of project ${project}`;
  return (daysLeft <= 0 ? fault : warning)(
    "service_account_expiring",
    daysLeft <= 0 ? `${what} has expired` : `${what} expires in ${Math.floor(daysLeft)} days`,
    "a lead of the project makes a new one: resontech service-accounts create",
  );
}

/** Who answered for it has left, or has a duty that leaves no data. */
function orphanFinding({
  account,
  name,
  project,
  projectId,
  orphanedAt,
}: NonNullable<CoordinatorHealth["orphanedAccounts"]>[number]): Finding {
  const endsAt = new Date(Date.parse(orphanedAt) + 7 * DAY_MS).toISOString();
  return warning(
    "service_account_orphaned",
    `nobody answers for service account ${name} (${account}) of project ${project}; it ends at ${endsAt}`,
    `a lead of the project answers for it: resontech service-accounts adopt ${projectId} ${account}`,
  );
}

/** A warning: a distribution may have nothing newer. */
function runcFindings(runc: RuncVersion): Finding[] {
  const escapes = knownEscapes(runc);
  const what = `runc ${runc.version} has known escapes from a container: ${escapes.join(", ")}`;
  return escapes.length === 0 ? [] : [warning("runc_escapes", what, RUNC_REMEDY)];
}

/** A node renews its own; all others but the root are made anew by a start in the last third of their life. */
function certificateRemedy(file: string): string {
  if (file.includes("/door-certificate/"))
    return file.endsWith("/before.crt")
      ? "nothing: it was the authority of the certificate before"
      : "bring a newer one: appliance certificates use";
  if (file.endsWith("/node.crt"))
    return "the agent renews it by itself, and did not: its log says why, appliance logs agent";
  return file.endsWith("/ca/root.crt")
    ? "this release can't renew it: ask your vendor for one that can"
    : "appliance restart renews it";
}

function certificateFinding({ file, daysLeft }: CertificateFacts): Finding | null {
  if (daysLeft > CERTIFICATE_DAYS.told) return null;
  const left = Math.floor(daysLeft);
  const what = daysLeft <= 0 ? `${file} has expired` : `${file} expires in ${left} days`;
  const remedy = certificateRemedy(file);
  const when =
    daysLeft <= CERTIFICATE_DAYS.now
      ? "now: "
      : daysLeft <= CERTIFICATE_DAYS.soon
        ? "choose a day this month: "
        : "";
  const todo = `${when}${remedy}`;
  return (daysLeft <= 0 ? fault : warning)("certificate_expiring", what, todo);
}

function fault(code: string, what: string, todo: string): Finding {
  return { severity: "fault", code, what, todo };
}

function warning(code: string, what: string, todo: string): Finding {
  return { severity: "warning", code, what, todo };
}

function seconds(ms: number): string {
  return Math.abs(ms) < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}

function size(bytes: number): string {
  return bytes < GIB ? `${Math.floor(bytes / 1024 ** 2)} MiB` : `${(bytes / GIB).toFixed(1)} GiB`;
}
