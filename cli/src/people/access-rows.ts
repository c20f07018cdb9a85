/** Who may do what, as rows of a table. */
import type { AccessReply } from "@resontech/contracts/http-access";

export const ACCESS_HEAD = ["NAME", "ROLES", "PROJECTS", "KEYS", "LAST SIGN-IN", "TO LOOK AT"];

/** People first, then programs. */
export function accessRows({ people, programs }: AccessReply): string[][] {
  return [
    ...people.map(({ username, roles, projects, keys, lastSignInAt, marks }) => [
      username,
      orDash(roles),
      orDash(projects.map(({ name, role }) => `${name}: ${role}`)),
      orDash(keys.map(({ last4, scopes }) => `…${last4}: ${scopes.join("+")}`)),
      lastSignInAt?.slice(0, 10) ?? "never",
      orDash(marks),
    ]),
    ...programs.map(({ name, project, scopes, answeredBy, isOrphan }) => [
      ...[name, "program", `${project}: ${scopes.join("+")}`, "-", "-"],
      isOrphan ? "nobody answers for it" : `answered for by ${answeredBy}`,
    ]),
  ];
}

function orDash(values: readonly string[]): string {
  return values.length === 0 ? "-" : values.join(", ");
}
