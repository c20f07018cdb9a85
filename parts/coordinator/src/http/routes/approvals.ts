/** Requests that need a second person, and who there is. */
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import {
  AnswerBody,
  type ApprovalKind,
  ApprovalBody,
  ApprovalReply,
  PeopleQuery,
  PersonReply,
  type Requested,
  SignBody,
  SignReply,
} from "@resontech/contracts/http-approvals";
import { IdParam } from "@resontech/contracts/http-common";
import type { FastifyRequest } from "fastify";
import { Type } from "typebox";
import { ApiError } from "../../api-error.ts";
import type { Approvals } from "../../approvals/approvals.ts";
import { type Approval, findApproval, listApprovals } from "../../approvals/approval-store.ts";
import { isSelfAnswered, type SelfAnsweredKind } from "../../approvals/decisions/who-signs.ts";
import type { Action } from "../../authorization/actions.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { projectName } from "../../identity/project-store.ts";
import { listPeople } from "../../identity/people-store.ts";
import { acknowledgeRestored, standingRestored } from "../../identity/restored-administrators.ts";
import { authorize, authorizedRow, callerOfRequest } from "../authorization.ts";
import { instant } from "../decisions/job-replies.ts";
import { responses } from "../responses.ts";
import { readSessionCookie, setPendingCookie } from "../session-cookie.ts";
import type { SignInParts } from "./sign-in.ts";

/** @property approvals null where the appliance has no identity provider: nobody could ask or answer */
export type ApprovalRoutesDeps = {
  read: ReadHandle;
  commit: GroupCommit;
  /** Unix milliseconds. */
  now: () => number;
  approvals: Approvals | null;
  identity: SignInParts | null;
  kernel: Pick<Kernel, "job">;
};

const tags = ["approvals"];
const MOST = 200;
const Params = Type.Object({ id: IdParam }, { additionalProperties: false });

/** These are asked for in a project, and nobody does them alone. */
type AskedInProject = "quota" | "export";
/** Asked for of the whole appliance; how many people it takes does not hang on how many there are. */
const ASK_ALWAYS_SIGNED = {
  hold: "hold.set",
  lift: "lift.request",
  disclosure: "disclosure.request",
} as const satisfies Partial<Record<ApprovalKind, Action>>;
type AlwaysSigned = keyof typeof ASK_ALWAYS_SIGNED;
/** Who may ask for it, and who may do it alone while nobody could answer. */
const ASK = {
  role: ["role.request", "role.change"],
  "second-factor": ["factor.request", "factor.reset"],
  policy: ["policy.propose", "policy.change"],
  "audit-policy": ["policy.propose", "policy.change"],
  erasure: ["erasure.request", "erasure.order"],
  image: ["image.request", "image.admit"],
  share: ["share.request", "share.lower"],
} as const satisfies Record<
  Exclude<ApprovalKind, AskedInProject | AlwaysSigned>,
  readonly [Action, Action]
>;
/** Who may answer a request of a kind. */
const DECIDE = {
  role: "role.decide",
  "second-factor": "factor.decide",
  quota: "quota.decide",
  policy: "policy.decide",
  "audit-policy": "policy.decide",
  erasure: "erasure.decide",
  lift: "lift.decide",
  disclosure: "disclosure.decide",
  export: "export.decide",
  image: "image.decide",
  share: "share.decide",
} as const satisfies Record<Exclude<ApprovalKind, SelfAnsweredKind>, Action>;

export const approvalRoutes: FastifyPluginAsyncTypebox<ApprovalRoutesDeps> = async (
  app,
  { read, commit, now, approvals, identity, kernel },
) => {
  app.get(
    "/api/approvals",
    {
      schema: {
        summary: "Requests that the caller may see, newest first",
        ...{ tags, response: responses(200, Type.Array(ApprovalReply)) },
      },
      config: { access: { action: "approval.list" }, audit: { none: "status" } },
    },
    async (request) => {
      const { rows } = await authorize(request, "approval.list", "rows");
      return listApprovals(read, rows, MOST).map((one) => required().reply(one));
    },
  );

  app.get(
    "/api/approvals/:id",
    {
      schema: {
        summary: "One request",
        ...{ tags, params: Params, response: responses(200, ApprovalReply) },
      },
      config: { access: { action: "approval.read" }, audit: { none: "status" } },
    },
    async (request) => {
      const found = findApproval(read, request.params.id);
      await authorize(request, "approval.read", found === null ? null : rowOf(found));
      return required().reply(found!);
    },
  );

  app.post(
    "/api/approvals",
    {
      schema: {
        summary: "Ask for what needs a second person; done at once where there is none",
        ...{ tags, body: ApprovalBody, response: responses(201, ApprovalReply) },
      },
      config: {
        access: { action: "approval.list" },
        audit: { event: "iam.approval.request" },
      },
    },
    async (request, reply) => {
      const { what, reason } = request.body;
      const { userId } = callerOfRequest(request);
      // The list is asked for as well: whoever asks sees the own request.
      await authorize(request, "approval.list", "rows");
      const singlePerson = await authorizeRequest(request, what, userId);
      const approval = await required().request(request.audit, what, {
        ...{ requesterId: userId, reason: reason ?? null, singlePerson },
      });
      return reply.code(201).send(required().reply(approval));
    },
  );

  for (const [verb, state] of [
    ["approve", "approved"],
    ["deny", "denied"],
  ] as const)
    app.post(
      `/api/approvals/:id/${verb}`,
      {
        schema: {
          summary: `${verb === "approve" ? "Approve" : "Deny"} somebody else's request`,
          ...{ tags, params: Params, body: AnswerBody, response: responses(200, ApprovalReply) },
        },
        config: { access: { action: "approval.read" }, audit: { event: "iam.approval.answer" } },
      },
      async (request) => {
        const found = findApproval(read, request.params.id);
        await authorize(request, "approval.read", found === null ? null : rowOf(found));
        await authorizeAnswer(request, found!);
        const approval = await required().answer(request.audit, found!.id, state, {
          deciderId: callerOfRequest(request).userId,
          reason: request.body.reason ?? null,
        });
        return required().reply(approval);
      },
    );

  app.post(
    "/api/approvals/:id/sign",
    {
      schema: {
        summary: "Where the browser goes to sign a request, or an approval, by a second factor",
        ...{ tags, params: Params, body: SignBody, response: responses(200, SignReply) },
      },
      config: {
        access: { action: "approval.read" },
        audit: { event: "iam.approval.sign", loggedBy: "identity/sign-in/sign-in.ts" },
      },
    },
    async (request, reply) => {
      const found = findApproval(read, request.params.id);
      const approval = await authorizedRow(
        request,
        "approval.read",
        found === null ? null : { ...found, ...rowOf(found) },
      );
      // A signature is no answer: whether this person may ask or answer is decided then.
      const caller = callerOfRequest(request);
      if (caller.kind !== "session" || readSessionCookie(request) === null || identity === null)
        throw new ApiError("session_required", "only a person with a browser can sign");
      const { answer } = request.body;
      const step = await identity.signIn.begin({
        ...{ returnTo: "/dashboard/approvals", stepUp: true },
        signs: required().statementOf(approval, answer, caller.userId),
      });
      setPendingCookie(reply, step.state, step.pending);
      return { location: step.url.href };
    },
  );

  app.post(
    "/api/approvals/:id/withdraw",
    {
      schema: {
        summary: "Take the own request back",
        ...{ tags, params: Params, response: responses(200, ApprovalReply) },
      },
      config: { access: { action: "approval.withdraw" }, audit: { event: "iam.approval.answer" } },
    },
    async (request) => {
      const found = findApproval(read, request.params.id);
      await authorizedRow(request, "approval.withdraw", found === null ? null : rowOf(found));
      const approval = await required().answer(request.audit, found!.id, "withdrawn", {
        ...{ deciderId: callerOfRequest(request).userId, reason: null },
      });
      return required().reply(approval);
    },
  );

  app.get(
    "/api/people",
    {
      schema: {
        summary: "Everybody who has a user here, with roles of the whole appliance",
        ...{ tags, querystring: PeopleQuery, response: responses(200, Type.Array(PersonReply)) },
      },
      config: { access: { action: "people.read" }, audit: { event: "iam.people.read" } },
    },
    async (request) => {
      await authorize(request, "people.read", "every");
      const { reason } = request.query;
      const people = listPeople(read);
      const restored = new Map(
        standingRestored(read).map(({ userId, restoredAt }) => [userId, restoredAt]),
      );
      await request.audit.fact({
        type: "iam.people.read",
        object: { kind: "appliance", id: "appliance" },
        detail: { count: people.length },
        ...(reason === undefined ? {} : { pii: { reason } }),
      });
      return people.map(({ createdAt, ...person }) => ({
        ...person,
        restoredAt: restored.has(person.id) ? instant(restored.get(person.id)!) : null,
        createdAt: instant(createdAt),
      }));
    },
  );

  app.post(
    "/api/people/:id/acknowledge",
    {
      schema: {
        summary: "Say that an administrator whom the host's root made is rightly one",
        ...{
          tags,
          params: Params,
          response: responses(200, Type.Object({}, { additionalProperties: false })),
        },
      },
      config: {
        access: { action: "administrator.acknowledge" },
        audit: { event: "iam.role.acknowledge" },
      },
    },
    async (request) => {
      const { id: userId } = request.params;
      await authorize(request, "administrator.acknowledge", "every");
      const { userId: by } = callerOfRequest(request);
      await request.audit.operation(
        {
          type: "iam.role.acknowledge",
          object: { kind: "user", id: userId },
          detail: { role: "platform-admin" },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            acknowledgeRestored(db, { userId, by, now: now() });
            completeIn(db);
          }),
      );
      return {};
    },
  );

  /** Who is alone approves the own request, where there was something to sign before. */
  async function authorizeAnswer(request: FastifyRequest, found: Approval): Promise<void> {
    const { what, requesterId } = found;
    if (isSelfAnswered(what.kind)) {
      await authorizedRow(request, "approval.withdraw", rowOf(found));
      await authorize(request, ASK_ALWAYS_SIGNED[what.kind], "every");
      return;
    }
    if (isAlwaysSigned(what.kind)) {
      await authorize(request, DECIDE[what.kind], rowOf(found), { singlePerson: false });
      return;
    }
    const singlePerson = required().isSinglePerson(requesterId, what.kind);
    if (found.singlePerson && singlePerson && what.kind !== "quota" && what.kind !== "export") {
      await authorizedRow(request, "approval.withdraw", rowOf(found));
      await authorize(request, ASK[what.kind][1], "every", { singlePerson });
    } else await authorize(request, DECIDE[what.kind], rowOf(found), { singlePerson });
  }

  /** Whether it is to be done at once, as nobody else could answer. */
  async function authorizeRequest(
    request: FastifyRequest,
    what: Requested,
    userId: string,
  ): Promise<boolean> {
    if (what.kind === "quota") {
      const isThere = projectName(read, what.projectId) !== null;
      await authorize(request, "quota.request", isThere ? { projectId: what.projectId } : null);
      return false;
    }
    if (what.kind === "export") {
      await authorizedRow(request, "export.request", kernel.job(what.jobId));
      return false;
    }
    if (isAlwaysSigned(what.kind)) {
      await authorize(request, ASK_ALWAYS_SIGNED[what.kind], "every");
      return false;
    }
    const singlePerson = required().isSinglePerson(userId, what.kind);
    const [ask, act] = ASK[what.kind];
    await authorize(request, ask, "every");
    if (singlePerson) await authorize(request, act, "every", { singlePerson });
    return singlePerson;
  }

  function required(): Approvals {
    if (approvals === null)
      throw new ApiError("identity_unavailable", "this appliance has no identity provider");
    return approvals;
  }
};

function isAlwaysSigned(kind: ApprovalKind): kind is AlwaysSigned {
  return kind in ASK_ALWAYS_SIGNED;
}

/** What a policy reads of a request; one that concerns the whole appliance is of no project. */
function rowOf({ requesterId, projectId }: { requesterId: string; projectId: string | null }) {
  return { userId: requesterId, projectId: projectId ?? "" };
}
