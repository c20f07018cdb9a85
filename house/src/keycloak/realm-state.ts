import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { readRealm } from "@resontech/keycloak/read-realm";

/** Kinds of what a realm holds, by their paths. */
const KINDS = [
  ...(["users", "clients", "groups", "components"] as const),
  ...(["identity-provider/instances", "authentication/flows", "client-scopes"] as const),
] as const;
type Kind = (typeof KINDS)[number];
type Row = { id: string; alias?: string };
/** What else Keycloak tells of a realm. */
const OTHERS = [
  ...(["roles?max=10000&briefRepresentation=false", "default-groups"] as const),
  ...(["authentication/required-actions", "events/config"] as const),
  ...(["client-policies/policies", "client-policies/profiles"] as const),
] as const;

/** What a realm held when it was read, and the way back to it. Sessions end with their people. */
export class RealmState {
  readonly #admin: KeycloakAdmin;
  readonly #realm: string;
  readonly #rows: ReadonlyMap<Kind, readonly Row[]>;
  readonly #settings: object;
  readonly #all: string;

  private constructor(
    admin: KeycloakAdmin,
    realm: string,
    rows: ReadonlyMap<Kind, readonly Row[]>,
    settings: object,
    all: string,
  ) {
    this.#admin = admin;
    this.#realm = realm;
    this.#rows = rows;
    this.#settings = settings;
    this.#all = all;
  }

  static async read(admin: KeycloakAdmin, realm: string): Promise<RealmState> {
    const rows = new Map<Kind, readonly Row[]>();
    for (const kind of KINDS) rows.set(kind, await rowsOf(admin, realm, kind));
    // Keycloak writes defaults down with the first settings that come back to it.
    await admin.put(`/${realm}`, await admin.get<object>(`/${realm}`));
    const settings = await admin.get<object>(`/${realm}`);
    return new RealmState(admin, realm, rows, settings, await allOf(admin, realm));
  }

  /** False where something of it is still another: such a realm must go. */
  async putBack(): Promise<boolean> {
    const path = `/${this.#realm}`;
    if ((await this.#admin.find(path)) === null) return false;
    await this.#admin.put(path, this.#settings);
    for (const [kind, own] of this.#rows) await this.#putBackRows(kind, own);
    for (const gone of ["events", "admin-events", "attack-detection/brute-force/users"])
      await this.#admin.delete(`${path}/${gone}`);
    return (await allOf(this.#admin, this.#realm)) === this.#all;
  }

  async #putBackRows(kind: Kind, own: readonly Row[]): Promise<void> {
    const before = new Map(own.map((row) => [nameOf(kind, row), row]));
    for (const row of await rowsOf(this.#admin, this.#realm, kind)) {
      const path = `/${this.#realm}/${kind}/${nameOf(kind, row)}`;
      const kept = before.get(nameOf(kind, row));
      if (kept === undefined) await this.#admin.delete(path);
      else if (kind === "clients" && textOf(kept) !== textOf(row))
        await this.#admin.put(path, kept);
    }
  }
}

/** By which Keycloak takes it away. */
const nameOf = (kind: Kind, { id, alias = "" }: Row): string =>
  kind === "identity-provider/instances" ? alias : id;

async function rowsOf(admin: KeycloakAdmin, realm: string, kind: Kind): Promise<Row[]> {
  return await admin.get<Row[]>(`/${realm}/${kind}?max=100000`);
}

/** All that Keycloak tells of it, in one order. */
async function allOf(admin: KeycloakAdmin, realm: string): Promise<string> {
  const told: unknown[] = [(await readRealm(admin, realm))?.realm];
  for (const path of [...KINDS.map((kind) => `${kind}?max=100000`), ...OTHERS])
    told.push(await admin.get(`/${realm}/${path}`));
  return textOf(told);
}

/** JSON with members and lists in one order, since Keycloak answers in any, and without ids: what was made anew in its place has another. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(textOf).sort().join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([name]) => name !== "id")
    .map(([name, one]) => `${JSON.stringify(name)}:${textOf(one)}`);
  return `{${members.sort().join()}}`;
}
