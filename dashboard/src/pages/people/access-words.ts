/** Who may do what, as a reviewer reads it. Pure. */
import type { AccessMark, AccessOfPerson, AccessReply } from "@resontech/contracts/http-access";
import { csvOf } from "../../ui/csv.ts";

const MARKS: Readonly<Record<AccessMark, string>> = {
  duties_conflict: "holds duties that exclude each other",
  membership_without_effect: "is in a project, though the role sees no data",
  unused: "not seen for 90 days",
  key_unused: "has a key that nobody used for 90 days",
  left_with_rights: "left or disabled, and rights are still noted",
  no_second_factor: "signed in last without a second factor",
};

export function markWords(mark: AccessMark): string {
  return MARKS[mark];
}

/** Whether somebody may sign in, and why not. */
export function standingWords({
  isDisabled,
  hasLeft,
}: Pick<AccessOfPerson, "isDisabled" | "hasLeft">): string {
  if (hasLeft) return "left";
  return isDisabled ? "disabled" : "active";
}

export function secondFactorWords({
  hasSecondFactor,
}: Pick<AccessOfPerson, "hasSecondFactor">): string {
  if (hasSecondFactor === null) return "not known";
  return hasSecondFactor ? "yes" : "no";
}

const HEAD = [
  ...["Name", "Pseudonym", "Standing", "Roles", "Project", "Role in the project", "Given by"],
  ...["Key", "Scopes", "Key made", "Key ends", "Key last used", "Last sign-in", "Second factor"],
  "To look at",
];

/** A line for each right: a role of the whole appliance, a membership, a key, a program. */
export function accessCsv({ people, programs }: AccessReply): string {
  const lines = people.flatMap((person) => {
    const who = [person.username, person.id, standingWords(person), person.roles.join(" ")];
    const rest = [
      person.lastSignInAt,
      secondFactorWords(person),
      person.marks.map(markWords).join("; "),
    ];
    const memberships = person.projects.map(({ name, role, by }) => [
      ...[...who, name, role, by],
      ...["", "", "", "", ""],
      ...rest,
    ]);
    const keys = person.keys.map((key) => [
      ...[...who, key.project, "", ""],
      ...[`…${key.last4}`, key.scopes.join(" "), key.createdAt, key.expiresAt, key.lastUsedAt],
      ...rest,
    ]);
    const alone = [[...who, "", "", "", "", "", "", "", "", ...rest]];
    return memberships.length + keys.length === 0 ? alone : [...memberships, ...keys];
  });
  const ofPrograms = programs.map((program) => [
    ...[program.name, program.id, "program", "", program.project, "service-account"],
    ...[program.answeredBy, "", program.scopes.join(" "), "", program.expiresAt],
    ...[program.lastUsedAt, "", "", program.isOrphan ? "nobody answers for it" : ""],
  ]);
  return csvOf(HEAD, [...lines, ...ofPrograms]);
}
