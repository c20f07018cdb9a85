/**
 * What people lost since a copy of Keycloak's database was taken, as one statement for that copy. Pure.
 *
 * Keycloak's older program can't open what the newer one made of its database, so the older database comes back with the older release. By it alone whoever
 * was disabled since could sign in again. The statement takes away whatever the newer database does not have any more; it gives nothing.
 */

/** One JSON object of everything that opens a door, by a query that both databases understand. */
export const KEPT_QUERY = `SELECT json_build_object(
  'users', (SELECT coalesce(json_agg(id), '[]') FROM user_entity WHERE enabled),
  'roles', (SELECT coalesce(json_agg(json_build_array(m.user_id, coalesce(c.client_id, ''), r.name)), '[]')
    FROM user_role_mapping m JOIN keycloak_role r ON r.id = m.role_id LEFT JOIN client c ON c.id = r.client),
  'groups', (SELECT coalesce(json_agg(json_build_array(user_id, group_id)), '[]') FROM user_group_membership),
  'identities', (SELECT coalesce(json_agg(json_build_array(user_id, identity_provider)), '[]') FROM federated_identity),
  'credentials', (SELECT coalesce(json_agg(json_build_array(user_id, marks)), '[]') FROM (${marksOfCredentials()}) marked),
  'clients', (SELECT coalesce(json_agg(json_build_array(realm_id, client_id, md5(coalesce(secret, '')))), '[]') FROM client WHERE enabled)
)`;

/** Which credentials a person has, and since when; a password that is only hashed anew at a sign-in stays the same. */
function marksOfCredentials(): string {
  return "SELECT user_id, md5(string_agg(id || ' ' || coalesce(created_date::text, ''), ',' ORDER BY id)) AS marks FROM credential GROUP BY user_id";
}

/**
 * In one line, as PostgreSQL's single-user mode reads it, where a line break ends a statement. All of it happens or nothing.
 *
 * @param kept the answer to {@link KEPT_QUERY}; JSON of a database of ours, and yet quoted as if it were a stranger's
 */
export function removalsStatement(kept: string): string {
  const facts = JSON.stringify(JSON.parse(kept)).replaceAll("'", "''");
  const pairs = (name: string): string =>
    `SELECT e->>0, e->>1 FROM json_array_elements(kept->'${name}') e`;
  const triples = (name: string): string =>
    `SELECT e->>0, e->>1, e->>2 FROM json_array_elements(kept->'${name}') e`;
  const statements = [
    "UPDATE user_entity SET enabled = false WHERE enabled AND id NOT IN (SELECT json_array_elements_text(kept->'users'))",
    `DELETE FROM user_role_mapping m USING keycloak_role r LEFT JOIN client c ON c.id = r.client WHERE r.id = m.role_id AND (m.user_id, coalesce(c.client_id, ''), r.name) NOT IN (${triples("roles")})`,
    `DELETE FROM user_group_membership WHERE (user_id, group_id) NOT IN (${pairs("groups")})`,
    `DELETE FROM federated_identity WHERE (user_id, identity_provider) NOT IN (${pairs("identities")})`,
    // Without the second factor that came since, the first alone must open nothing either.
    `DELETE FROM credential WHERE user_id IN (SELECT user_id FROM (${marksOfCredentials()}) had WHERE (user_id, marks) NOT IN (${pairs("credentials")}))`,
    `UPDATE client SET enabled = false WHERE enabled AND (realm_id, client_id) NOT IN (${pairs("clients")})`,
    `UPDATE client SET secret = gen_random_uuid()::text WHERE secret IS NOT NULL AND enabled AND (realm_id, client_id, md5(secret)) NOT IN (${triples("clients")})`,
    "DELETE FROM offline_client_session",
    "DELETE FROM offline_user_session",
  ];
  const body = statements.map((one) => `${one};`).join(" ");
  return `DO $removals$ DECLARE kept json := '${facts.replaceAll("$removals$", "")}'; BEGIN ${body} END $removals$;\n`;
}
