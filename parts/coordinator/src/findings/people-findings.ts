/** People whose roles, groups or accounts want a look. Pure. */
import { type Finding, type FindingFacts, warning } from "@resontech/frame/finding";

export function peopleFindings({ health }: FindingFacts): Finding[] {
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
