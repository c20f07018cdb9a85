/** Who held which role when a period began and when it ended, and what changed it between: folded from the log's own operations. Pure. */
import { type Operation, placeText } from "../operations/operation.ts";

export type RoleRow = {
  person: string;
  role: string;
  /** The project, or `appliance` of a role of the whole appliance. */
  where: string;
  atStart: boolean;
  atEnd: boolean;
  /** Entries that changed it within the period. */
  changes: string[];
};

const APPLIANCE = "appliance";
type Change = { person: string; role: string; where: string; isHeld: boolean };

export class RoleHolders {
  readonly #rows = new Map<string, RoleRow>();

  /** @param when whether it was asked for before the period, or within it; what came behind it is not given */
  note(operation: Operation, when: "before" | "within"): void {
    for (const { person, role, where, isHeld } of this.#changesOf(operation)) {
      const row = this.#row(person, role, where);
      row.atEnd = isHeld;
      if (when === "before") row.atStart = isHeld;
      else row.changes.push(placeText(operation.entry));
    }
  }

  /** Of everybody who held a role or changed it, by place, role and person. */
  get rows(): RoleRow[] {
    return [...this.#rows.values()]
      .filter(({ atStart, atEnd, changes }) => atStart || atEnd || changes.length > 0)
      .sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  #row(person: string, role: string, where: string): RoleRow {
    const fresh = { person, role, where, atStart: false, atEnd: false, changes: [] };
    const row = this.#rows.get(nameOf(fresh)) ?? fresh;
    this.#rows.set(nameOf(fresh), row);
    return row;
  }

  #changesOf({ type, result, object, detail }: Operation): Change[] {
    if (result !== "done") return [];
    const { role, change, member, duty, admin, lead } = detail;
    if (type === "iam.role.change" && typeof role === "string")
      return [{ person: object.id, role, where: APPLIANCE, isHeld: change === "grant" }];
    if (type === "iam.user.create") {
      // Entries of older releases name no duty.
      const given = typeof duty === "string" ? duty : admin === true ? "platform-admin" : null;
      return given === null
        ? []
        : [{ person: object.id, role: given, where: APPLIANCE, isHeld: true }];
    }
    if (type === "iam.project.create" && typeof lead === "string")
      return [{ person: lead, role: "project-lead", where: object.id, isHeld: true }];
    if (type !== "iam.project.member" || typeof member !== "string") return [];
    // A member has one role in a project: another one takes its place.
    const held = [...this.#rows.values()].filter(
      (row) => row.person === member && row.where === object.id && row.atEnd && row.role !== role,
    );
    return [
      ...held.map((row) => ({ person: member, role: row.role, where: object.id, isHeld: false })),
      ...(change === "grant" && typeof role === "string"
        ? [{ person: member, role, where: object.id, isHeld: true }]
        : []),
    ];
  }
}

function nameOf({ person, role, where }: Pick<RoleRow, "person" | "role" | "where">): string {
  return `${where === APPLIANCE ? "" : where}\n${role}\n${person}`;
}
