/** Keys and accounts that end, and approvals that nobody could give. Pure. */
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import { fault, type Finding, type FindingFacts, warning } from "@resontech/frame/finding";

const DAY_MS = 86_400_000;

export function accessFindings({ health, nowMs }: FindingFacts): Finding[] {
  if (health === null) return [];
  const { endingKeys, endingAccounts = [], orphanedAccounts = [], hasApprover } = health;
  return [
    ...endingKeys.map((key) => keyFinding(key, nowMs)),
    ...endingAccounts.map((account) => accountFinding(account, nowMs)),
    ...orphanedAccounts.map(orphanFinding),
    ...(hasApprover
      ? []
      : [
          warning(
            "single_person",
            "nobody could approve what needs a second person: such actions are done alone, and marked so",
            "make a security officer: resontech approvals request role USER security-officer",
          ),
        ]),
  ];
}

function keyFinding(
  { key, username, expiresAt }: CoordinatorHealth["endingKeys"][number],
  nowMs: number,
): Finding {
  const daysLeft = (Date.parse(expiresAt) - nowMs) / DAY_MS;
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
function accountFinding(
  { account, name, project, expiresAt }: NonNullable<CoordinatorHealth["endingAccounts"]>[number],
  nowMs: number,
): Finding {
  const daysLeft = (Date.parse(expiresAt) - nowMs) / DAY_MS;
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
