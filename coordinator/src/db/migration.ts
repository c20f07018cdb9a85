/** One numbered step of the schema. Never edited once released; `version` is what `user_version` reads after it. */
export type Migration = { version: number; name: string; sql: string };
