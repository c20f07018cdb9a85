import type { FastifyRequest } from "fastify";
import { ApiError } from "../api-error.ts";
import { callerIn, type UserCaller } from "../authorization/caller.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { projectName } from "../identity/project-store.ts";
import { noteHiddenRow } from "./authorization.ts";

/**
 * The caller in the project that the request names: a project of others is answered as one that is not there, and the attempt is on record.
 * @throws ApiError not_found
 */
export function inProject<C extends UserCaller>(
  request: FastifyRequest,
  read: ReadHandle,
  caller: C,
  projectId: string,
): C {
  const there = callerIn(caller, projectId);
  if (there !== null) return there;
  if (projectName(read, projectId) !== null) noteHiddenRow(request, "not_found", "project");
  throw new ApiError("not_found", "there is no such project");
}
