/** What is wrong with the box, worst first, each with what to do. Pure. The host's own findings are those of `appliance status`. */
import type { ApplianceReply } from "@resontech/contracts/http-nodes";

export type BoxProblem = { isFault: boolean; what: string; todo: string };

export function problemsOf(box: ApplianceReply): BoxProblem[] {
  return [...parts(box), ...nodes(box), ...people(box)].sort(
    (a, b) => Number(b.isFault) - Number(a.isFault),
  );
}

function parts({ audit, bus, database, storage, brake }: ApplianceReply): BoxProblem[] {
  const status = "On the host: `sudo appliance status` says which part and why.";
  return [
    ...(audit.state === "ok"
      ? []
      : [
          fault(
            audit.state === "draining"
              ? "The audit log is nearly full or far behind: jobs end, and no new one starts"
              : "The audit log takes nothing: every action is refused",
            status,
          ),
        ]),
    ...(bus === "up"
      ? []
      : [fault("The message bus is down: nodes can't be told anything", status)]),
    ...(database === "ok"
      ? []
      : [fault(`The database is ${database}: nothing is changed`, status)]),
    ...(storage === "ok" ? [] : [fault("The object store does not answer", status)]),
    ...(brake === null
      ? []
      : [
          warning(
            `Silent nodes are not declared dead: ${brake}`,
            "Look at the network between the nodes.",
          ),
        ]),
  ];
}

function nodes({ nodes: all }: ApplianceReply): BoxProblem[] {
  return all.flatMap(({ node, state, drained, silentS }) => {
    if (state === "DEAD")
      return [
        fault(
          `${node} is dead: its jobs have gone elsewhere`,
          "Look at the host, then start its agent.",
        ),
      ];
    if (state === "SUSPECT")
      return [
        warning(
          `${node} is silent for ${silentS ?? "?"} s`,
          "Its jobs are kept until its lease ends.",
        ),
      ];
    return drained === null
      ? []
      : [
          warning(
            `${node} takes no new work: ${drained}`,
            "Give it back on its page when it may work again.",
          ),
        ];
  });
}

function people({
  hasApprover,
  endingKeys,
  restored,
  orphanedAccounts,
  givenNothing,
}: ApplianceReply): BoxProblem[] {
  return [
    ...restored.map(({ username, restoredAt }) =>
      fault(
        `${username} was made an administrator at the host on ${restoredAt.slice(0, 10)}, without two people`,
        "Somebody else with a role of the whole appliance says on the page People that this was right, or asks there to take the role.",
      ),
    ),
    ...orphanedAccounts.map(({ name, project, orphanedAt }) =>
      warning(
        `Nobody answers for the service account ${name} of ${project} since ${orphanedAt.slice(0, 10)}: it ends after seven days`,
        "A lead of the project adopts it on the page People.",
      ),
    ),
    ...givenNothing.map(({ username, group, project }) =>
      warning(
        `The group ${group} would make the auditor ${username} a member of ${project}, and gives nothing`,
        "Take the person out of the group in the directory, or end what the group gives: `appliance identity groups`.",
      ),
    ),
    ...(hasApprover
      ? []
      : [
          warning(
            "Nobody could approve what needs a second person: actions pass with one, marked so",
            "Give somebody else the role security-officer, on the page People.",
          ),
        ]),
    ...endingKeys.map(({ username, expiresAt }) =>
      warning(
        `A platform key of ${username} ends on ${expiresAt.slice(0, 10)}`,
        "Its owner mints another one on the page Keys.",
      ),
    ),
  ];
}

const fault = (what: string, todo: string): BoxProblem => ({ isFault: true, what, todo });
const warning = (what: string, todo: string): BoxProblem => ({ isFault: false, what, todo });
