import type { AskedClass } from "@resontech/contracts/http-tasks";
import type { FastifyRequest } from "fastify";
import { classActionOf } from "../submission/decisions/class-action.ts";
import { authorize } from "./authorization.ts";

/** @throws ApiError as the policies refuse the class; the first of what is asked beside `job.submit` */
export async function authorizeClass(
  request: FastifyRequest,
  asked: AskedClass | null | undefined,
  row: { userId: string; projectId: string },
): Promise<void> {
  const { action, of } = classActionOf(asked);
  if (of === "job") await authorize(request, action, row);
  else await authorize(request, action, {});
}
