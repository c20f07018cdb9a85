import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { findUser } from "../identity/bucket-store.ts";

/** The id of a user whom a request names, for something new. @throws ApiError not_found */
export function enabledUser(read: ReadHandle, username: string): string {
  const user = findUser(read, username);
  if (user === null) throw new ApiError("not_found", `there is no user ${username}`);
  if (user.isDisabled) throw new ApiError("not_found", `the user ${username} is disabled`);
  return user.id;
}
