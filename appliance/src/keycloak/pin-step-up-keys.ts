/** Writes down for auditd and the vault by whose signatures they believe that a person agreed: keys of the realm, and who holds which role. */
import { readFileSync } from "node:fs";
import { GIVEN_ROLES } from "@resontech/contracts/http-approvals";
import { StepUpKeys } from "@resontech/contracts/step-up-keys";
import type { KeycloakAdmin } from "@resontech/keycloak/admin-api";
import { askKeycloak, type KeycloakAddress } from "@resontech/keycloak/address";
import { REALM } from "@resontech/keycloak/realm-definition";
import { Value } from "typebox/value";
import { ROOT, writeOwned } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";
import { applianceAdmin, keycloakAddress } from "./appliance-admin.ts";
import { changeOfKeys, pinnedKeys, type RealmKey } from "./decisions/pinned-keys.ts";
import { REALM_CLIENTS } from "./own-realm.ts";

/** Holders of one role that are named. */
const MOST_HOLDERS = 1_000;

/** Works as {@link pinStepUpKeys} does, for this appliance. */
export async function pinRealmKeys(
  context: PartContext,
): Promise<{ added: number; retired: number }> {
  return await pinStepUpKeys(
    context.layout.stepUpKeysFile,
    keycloakAddress(context),
    await applianceAdmin(context),
  );
}

/**
 * Nothing is written where nothing changed. @returns how many keys came and went
 * @throws KeycloakUnreachableError, KeycloakRefusedError
 */
export async function pinStepUpKeys(
  file: string,
  address: KeycloakAddress,
  admin: KeycloakAdmin,
  nowMs = Date.now(),
): Promise<{ added: number; retired: number }> {
  const [living, held] = [await realmKeys(address), await holders(admin)];
  // Read once Keycloak has answered: whoever wrote meanwhile, as `identity apply` may, is not undone.
  const before = read(file);
  const keys = pinnedKeys(before?.keys ?? [], living, Math.floor(nowMs / 1000));
  // Keycloak makes the key when it first signs with it: before anybody signed in there is none.
  if (keys.length === 0) return { added: 0, retired: 0 };
  const after: StepUpKeys = {
    issuer: `${address.origin}/realms/${REALM}`,
    ...{ audience: REALM_CLIENTS.dashboard.clientId, keys, holders: held },
  };
  const text = `${JSON.stringify(after, null, 2)}\n`;
  if (before === null || text !== `${JSON.stringify(before, null, 2)}\n`)
    writeOwned(file, text, ROOT, 0o444);
  return changeOfKeys(before, after);
}

function read(file: string): StepUpKeys | null {
  try {
    const found: unknown = JSON.parse(readFileSync(file, "utf8"));
    return Value.Check(StepUpKeys, found) ? found : null;
  } catch {
    return null;
  }
}

async function realmKeys(address: KeycloakAddress): Promise<RealmKey[]> {
  const { status, text } = await askKeycloak(
    address,
    `/realms/${REALM}/protocol/openid-connect/certs`,
    { method: "GET", headers: {}, body: null },
  );
  if (status !== 200) throw new Error(`keycloak answers ${status} for the realm's keys`);
  return (JSON.parse(text) as { keys: RealmKey[] }).keys;
}

/** Who can sign in, by role; who is disabled could agree to nothing. */
async function holders(admin: KeycloakAdmin): Promise<StepUpKeys["holders"]> {
  const all: [string, string[]][] = [];
  for (const role of GIVEN_ROLES) {
    const found = await admin.get<{ id: string; enabled: boolean }[]>(
      `/${REALM}/roles/${role}/users?max=${MOST_HOLDERS}`,
    );
    all.push([role, found.flatMap(({ id, enabled }) => (enabled ? [id] : [])).toSorted()]);
  }
  return Object.fromEntries(all);
}
