/** Which page helps with what is wrong, by its code. Pure. */

const PAGES: readonly [code: RegExp, to: string, title: string][] = [
  [/^key_/, "/keys", "Keys"],
  [/^(node|worker|agent|nodes)_|^planned_stop$/, "/nodes", "Nodes"],
  [/^(service_account|administrator|group|role|person)_|^single_person$/, "/people", "People"],
  [/^pool_|^guarantee_/, "/queue", "Queue"],
  [/^audit_|^vault_/, "/audit", "Audit log"],
];

/** @returns null where the host alone helps */
export function findingLink(code: string): { to: string; title: string } | null {
  const [, to, title] = PAGES.find(([pattern]) => pattern.test(code)) ?? [];
  return to === undefined || title === undefined ? null : { to, title };
}
