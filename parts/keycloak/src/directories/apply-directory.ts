/** Makes one connected directory at Keycloak as it is wanted, or takes it away. Safe to repeat from any point. */
import type { KeycloakAdmin } from "../admin-api.ts";
import { type Directory, groupOf, KEPT_SECRET, type Values } from "./decisions/directory-form.ts";
import { type FoundDirectory, readDirectories } from "./read-directories.ts";

/** A directory can't be made without its secret, which nobody but Keycloak had. */
export class DirectorySecretMissing extends Error {
  override readonly name = "DirectorySecretMissing";
  readonly code = "directory_secret_missing";
  readonly hint = "Connect the same name again: appliance identity connect --help.";
}

/** @param secret of the bind or of the client; null keeps the one that Keycloak has @throws DirectorySecretMissing */
export async function applyDirectory(
  admin: KeycloakAdmin,
  realm: string,
  want: Directory,
  secret: string | null,
): Promise<void> {
  await admin.post(`/${realm}/groups`, { name: groupOf(want.name).slice(1) });
  const found = await find(admin, realm, want.name);
  if (found !== null && found.kind !== want.kind) await removeDirectory(admin, realm, want.name);
  const there = found?.kind === want.kind ? found : null;
  if (there === null && secret === null && needsSecret(want))
    throw new DirectorySecretMissing(
      `Keycloak has no connection ${want.name}, and its secret is nowhere else`,
    );
  const settings = withSecret(want, secret ?? KEPT_SECRET);
  if (want.kind === "storage") await putStorage(admin, realm, settings, there);
  else await putBroker(admin, realm, settings, there);
  await putMappers(admin, realm, want);
}

/** Removes a directory, with everybody who came from it: whoever signed in by it is somebody new for Keycloak afterwards. */
export async function removeDirectory(
  admin: KeycloakAdmin,
  realm: string,
  name: string,
): Promise<void> {
  const found = await find(admin, realm, name);
  if (found === null) return;
  // Keycloak forgets the people of a storage by itself, and would leave those of a provider without any way in.
  if (found.kind === "storage") await admin.delete(`/${realm}/components/${found.id}`);
  else {
    await removePeople(admin, realm, name);
    await admin.delete(`/${realm}/identity-provider/instances/${name}`);
  }
  for (const { id, name: group } of await admin.get<{ id: string; name: string }[]>(
    `/${realm}/groups?exact=true&search=${name}`,
  ))
    if (group === name) await admin.delete(`/${realm}/groups/${id}`);
}

const PAGE = 100;

async function removePeople(admin: KeycloakAdmin, realm: string, name: string): Promise<void> {
  for (;;) {
    const people = await admin.get<{ id: string }[]>(
      `/${realm}/users?idpAlias=${name}&max=${PAGE}&briefRepresentation=true`,
    );
    if (people.length === 0) return;
    for (const { id } of people) await admin.delete(`/${realm}/users/${id}`);
  }
}

async function find(
  admin: KeycloakAdmin,
  realm: string,
  name: string,
): Promise<FoundDirectory | null> {
  return (await readDirectories(admin, realm)).find((one) => one.name === name) ?? null;
}

function needsSecret({ settings }: Directory): boolean {
  return settings["providerId"] !== "saml";
}

function withSecret(want: Directory, secret: string): Values {
  if (!needsSecret(want)) return want.settings;
  const config = want.settings["config"] as Values;
  return {
    ...want.settings,
    config:
      want.kind === "storage"
        ? { ...config, bindCredential: [secret] }
        : { ...config, clientSecret: secret },
  };
}

async function putStorage(
  admin: KeycloakAdmin,
  realm: string,
  settings: Values,
  there: FoundDirectory | null,
): Promise<void> {
  if (there === null) await admin.post(`/${realm}/components`, settings);
  else await admin.put(`/${realm}/components/${there.id}`, { id: there.id, ...settings });
}

async function putBroker(
  admin: KeycloakAdmin,
  realm: string,
  settings: Values,
  there: FoundDirectory | null,
): Promise<void> {
  const path = `/${realm}/identity-provider/instances`;
  if (there === null) await admin.post(path, settings);
  else await admin.put(`${path}/${there.name}`, settings);
}

/** All anew: Keycloak gives a new storage mappers of its own, which take more of a person than is wanted. */
async function putMappers(admin: KeycloakAdmin, realm: string, want: Directory): Promise<void> {
  const made = await find(admin, realm, want.name);
  if (made === null) throw new Error(`keycloak has no directory ${want.name} after making it`);
  const path =
    want.kind === "storage"
      ? `/${realm}/components`
      : `/${realm}/identity-provider/instances/${want.name}/mappers`;
  for (const id of made.mapperIds) await admin.delete(`${path}/${id}`);
  for (const mapper of want.mappers)
    await admin.post(path, want.kind === "storage" ? { ...mapper, parentId: made.id } : mapper);
}
