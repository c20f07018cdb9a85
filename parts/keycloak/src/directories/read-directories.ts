/** What Keycloak has of connected directories, in the form of {@link Directory}. */
import type { KeycloakAdmin } from "../admin-api.ts";
import { type Directory, STORAGE_TYPE, type Values } from "./decisions/directory-form.ts";

/** @property id Keycloak's, by which a storage is changed; a broker's is its name */
export type FoundDirectory = Directory & { id: string; mapperIds: string[] };

type Component = { id: string; name: string } & Values;
type Provider = { alias: string; internalId: string } & Values;
type Mapper = { id: string; name: string } & Values;

export async function readDirectories(
  admin: KeycloakAdmin,
  realm: string,
): Promise<FoundDirectory[]> {
  const found: FoundDirectory[] = [];
  const components = await admin.get<Component[]>(`/${realm}/components?type=${STORAGE_TYPE}`);
  for (const { id, ...settings } of components) {
    const mappers = await admin.get<Mapper[]>(`/${realm}/components?parent=${id}`);
    found.push({ kind: "storage", name: settings.name, id, settings, ...split(mappers) });
  }
  const providers = await admin.get<Provider[]>(`/${realm}/identity-provider/instances`);
  for (const { alias, internalId: _internal, ...settings } of providers) {
    const mappers = await admin.get<Mapper[]>(
      `/${realm}/identity-provider/instances/${alias}/mappers`,
    );
    found.push({
      ...{ kind: "broker", name: alias, id: alias, settings: { alias, ...settings } },
      ...split(mappers),
    });
  }
  return found;
}

function split(mappers: readonly Mapper[]): Pick<FoundDirectory, "mappers" | "mapperIds"> {
  return {
    mappers: mappers.map(({ id: _id, ...mapper }) => mapper),
    mapperIds: mappers.map(({ id }) => id),
  };
}
