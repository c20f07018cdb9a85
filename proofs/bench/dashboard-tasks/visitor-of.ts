import type { ApplianceRole } from "@resontech/coordinator/roles";
import type { Office, OfficePerson } from "../dashboard/office.ts";
import { Visitor } from "./visitor.ts";

const WINDOW = { width: 1280, height: 800 };
const LONGEST_WAIT_MS = 60_000;

/** A person who has just signed in. */
export async function visitorOf(
  office: Office,
  person: OfficePerson,
  roles: readonly ApplianceRole[] = [],
): Promise<Visitor> {
  const page = await office.page(person, { roles, ...WINDOW });
  page.setDefaultTimeout(LONGEST_WAIT_MS);
  return new Visitor(page, office.url);
}
