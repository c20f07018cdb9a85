/**
 * One numbered step of the schema. Never edited once released; `version` is what `user_version` reads after it.
 * A step that adds what older programs may pass over leaves `minReader` out; any other names the lowest version that may still open the file.
 */
export type Migration = { version: number; name: string; sql: string; minReader?: number };
