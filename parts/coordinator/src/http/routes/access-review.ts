/** Who may do what now, for a review: people with roles, projects and keys, and programs. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { AccessReply } from "@resontech/contracts/http-access";
import type { ReadHandle } from "../../db/open-database.ts";
import { accessOfPeople, accessOfPrograms } from "../../identity/access-store.ts";
import { accessMarks } from "../../identity/decisions/access-marks.ts";
import { authorize } from "../authorization.ts";
import { instant, instantOrNull } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";

export type AccessReviewRoutesDeps = {
  read: ReadHandle;
  /** Unix milliseconds. */
  now: () => number;
};

export const accessReviewRoutes: FastifyPluginAsyncTypebox<AccessReviewRoutesDeps> = async (
  app,
  { read, now },
) => {
  app.get(
    "/api/reviews/access",
    {
      schema: {
        summary: "Who may do what now: people with roles, projects and keys, and programs",
        ...{ tags: ["people"], response: responses(200, AccessReply) },
      },
      config: { access: { action: "people.read" }, audit: { event: "iam.access.review" } },
    },
    async (request) => {
      await authorize(request, "people.read", "every");
      const at = now();
      const people = accessOfPeople(read, at);
      const programs = accessOfPrograms(read, at);
      await request.audit.fact({
        type: "iam.access.review",
        object: { kind: "appliance", id: "appliance" },
        detail: { people: people.length, programs: programs.length },
      });
      return {
        at: instant(at),
        people: people.map(({ createdAt, lastSignInAt, keys, projects, ...person }) => ({
          ...person,
          projects,
          keys: keys.map((key) => ({
            ...key,
            createdAt: instant(key.createdAt),
            expiresAt: instant(key.expiresAt),
            lastUsedAt: instantOrNull(key.lastUsedAt),
          })),
          lastSignInAt: instantOrNull(lastSignInAt),
          marks: accessMarks(
            {
              ...{ roles: person.roles, keys, createdAt, lastSignInAt },
              projects: projects.filter(({ by }) => by !== "own"),
              hasSecondFactor: person.hasSecondFactor,
              isGone: person.isDisabled || person.hasLeft,
            },
            at,
          ),
        })),
        programs: programs.map(({ expiresAt, lastUsedAt, ...program }) => ({
          ...program,
          ...{ expiresAt: instant(expiresAt), lastUsedAt: instantOrNull(lastUsedAt) },
        })),
      };
    },
  );
};
