/** Duties × credentials × actions, as the policies decide: the table of docs/auditor/duties.md. Found by asking, never read off a policy. */
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import { SERVICE_ACCOUNT_SCOPES } from "@resontech/contracts/http-service-accounts";
import { type Action, ACTIONS } from "../../src/authorization/actions.ts";
import type { Caller, RoleGrant } from "../../src/authorization/caller.ts";
import type { ApplianceRole, ProjectRole, Role } from "../../src/authorization/roles.ts";
import { ask, ROWS, signedIn } from "./cells.ts";
import { sessionOf } from "./callers.ts";

/** Each person is in the project p1 as well, so that the duty alone makes the difference. */
const PEOPLE: readonly { title: string; duties: readonly ApplianceRole[]; member: ProjectRole }[] =
  [
    { title: "none, lead", duties: [], member: "project-lead" },
    { title: "none, researcher", duties: [], member: "researcher" },
    { title: "none, viewer", duties: [], member: "viewer" },
    { title: "administrator, lead", duties: ["platform-admin"], member: "project-lead" },
    { title: "administrator, researcher", duties: ["platform-admin"], member: "researcher" },
    { title: "officer, lead", duties: ["security-officer"], member: "project-lead" },
    { title: "steward, lead", duties: ["data-steward"], member: "project-lead" },
    { title: "auditor, lead", duties: ["compliance-auditor"], member: "project-lead" },
    { title: "auditor, researcher", duties: ["compliance-auditor"], member: "researcher" },
  ];

type Held = (typeof PEOPLE)[number];
const ID = { userId: "u1", projectId: "p1" };

/** The letters of the cells, and what acts. */
const CREDENTIALS: Record<string, (of: Held) => Caller> = {
  B: ({ duties, member }) => signedIn(sessionOf(...grants(duties, member)), 1),
  P: ({ duties, member }) => ({
    // By password alone a person shows no duty, and has it all the same.
    ...signedIn(sessionOf(...grants(duties.length > 0 ? [] : duties, member)), 1, "1"),
    holds: held(duties, member),
  }),
  K: ({ duties, member }) => ({
    ...{ kind: "key", keyId: "k1", ...ID, role: member },
    ...{ scopes: KEY_SCOPES, holds: held(duties, member) },
  }),
  A: ({ duties, member }) => ({
    ...{ kind: "service-account", ...ID, clientId: "service-account-u1" },
    ...{ scopes: SERVICE_ACCOUNT_SCOPES, holds: held(duties, member) },
  }),
};

/** An S3 key pair is there as long as its person may read the bucket: the engine asks nobody, so the coordinator asks as the person. */
const OF_PAIR: readonly Action[] = ["bucket.read", "bucket.write"];

function grants(duties: readonly ApplianceRole[], member: ProjectRole): RoleGrant[] {
  return [
    ...duties.map((role) => ({ role, projectId: null })),
    { role: member, projectId: ID.projectId },
  ];
}

function held(duties: readonly ApplianceRole[], member: ProjectRole): Role[] {
  return [...duties, member];
}

function isAllowed(caller: Caller, action: Action): boolean {
  return ask(caller, action, ROWS.mine).effect === "allow";
}

function cellOf(person: Held, action: Action): string {
  const letters = Object.entries(CREDENTIALS).flatMap(([letter, callerOf]) =>
    isAllowed(callerOf(person), action) ? [letter] : [],
  );
  const hasPair = person.member !== "viewer" && isAllowed(CREDENTIALS["B"]!(person), "bucket.read");
  if (hasPair && OF_PAIR.includes(action)) letters.splice(-1, 0, "S");
  return letters.join(" ") || "–";
}

/** Actions that somebody without a duty may do in a project by some credential, and looks into the log. */
function actionsShown(): Action[] {
  return (Object.keys(ACTIONS) as Action[]).filter((action) =>
    PEOPLE.filter(({ duties }) => duties.length === 0).some(
      (person) => cellOf(person, action) !== "–",
    ),
  );
}

/** In Markdown. */
export function dutiesTable(): string {
  const head = ["action", ...PEOPLE.map(({ title }) => title)];
  const rows = actionsShown().map((action) => [
    `\`${action}\``,
    ...PEOPLE.map((person) => cellOf(person, action)),
  ]);
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");
}
