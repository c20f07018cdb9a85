/** The realm file names a variable. Keycloak would import its literal text, a secret that everybody can guess. */
export class RealmVariableError extends Error {
  readonly code = "realm_variable";
}

/** @throws RealmVariableError naming the file and the variable */
export function refuseVariables(file: string, text: string): void {
  const variable = /\$\{[^}]*\}/.exec(text)?.[0];
  if (variable !== undefined)
    throw new RealmVariableError(`${file} holds ${variable}, which Keycloak would keep as it is`);
}
