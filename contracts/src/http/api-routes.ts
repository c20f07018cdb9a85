/**
 * Routes of the API that answer in JSON, as its OpenAPI document has them: what each takes, and what it answers.
 * Written by `node parts/coordinator/build/write-api-routes.ts`; a test compares it with the routes that are served.
 */
import type { Static } from "typebox";
import type * as appliance from "./http-appliance.ts";
import type * as approvals from "./http-approvals.ts";
import type * as audit from "./http-audit.ts";
import type * as identity from "./http-identity.ts";
import type * as inference from "./http-inference.ts";
import type * as jobs from "./http-jobs.ts";
import type * as models from "./http-models.ts";
import type * as nodes from "./http-nodes.ts";
import type * as projects from "./http-projects.ts";
import type * as serviceAccounts from "./http-service-accounts.ts";
import type * as storage from "./http-storage.ts";
import type * as tasks from "./http-tasks.ts";
import type * as use from "./http-use.ts";

type NoFields = { params?: never; query?: never; body?: never };
/** What the API fills in may be left out. */
type Filled<T, K extends keyof T> = Omit<T, K> & { [P in K]?: T[P] };

export type ApiRoutes = {
  GET: {
    "/api/appliance": { asked: NoFields; answer: appliance.ApplianceReply };
    "/api/approvals": { asked: NoFields; answer: Array<approvals.ApprovalReply> };
    "/api/approvals/{id}": { asked: { params: { id: string } }; answer: approvals.ApprovalReply };
    "/api/audit/events": { asked: { query?: Filled<audit.AuditEventsQuery, "order" | "limit"> }; answer: audit.AuditEventsReply };
    "/api/audit/events/{index}": { asked: { params: { index: number | string }; query?: Static<typeof audit.AuditEventQuery> }; answer: audit.AuditEventReply };
    "/api/audit/proofs": { asked: { query?: Filled<audit.AuditProofsQuery, "order" | "limit"> }; answer: audit.AuditProofsReply };
    "/api/audit/questions": { asked: NoFields; answer: audit.AuditQuestionsReply };
    "/api/audit/questions/{question}": { asked: { params: { question: "data-read" | "person" | "job" | "refused" | "left" | "rights" | "administrators" | "model" | "complete" }; query?: Filled<audit.AuditQuestionQuery, "order" | "limit"> }; answer: audit.AuditEventsReply };
    "/api/customer/dashboard/jobs": { asked: { query?: Filled<Static<typeof tasks.JobPageQuery>, "limit" | "offset"> }; answer: Array<tasks.DashboardJob> };
    "/api/customer/dashboard/jobs/{id}": { asked: { params: { id: string } }; answer: tasks.DashboardJobWithWorkers };
    "/api/customer/dashboard/listJobsNvflare": { asked: { query: Static<typeof tasks.NvflareJobsQuery> }; answer: Static<typeof tasks.NvflareJobsReply> };
    "/api/customer/dashboard/showStatsNvflare": { asked: { query: Static<typeof tasks.NvflareStatsQuery> }; answer: Static<typeof tasks.NvflareStatsReply> };
    "/api/customer/dashboard/workers/stats": { asked: NoFields; answer: tasks.WorkerStatsReply };
    "/api/gpu-catalog": { asked: NoFields; answer: tasks.GpuCatalogReply };
    "/api/hub/models": { asked: NoFields; answer: models.ModelListReply };
    "/api/hub/models/{organisation}/{model}/{revision}": { asked: { params: { organisation: string; model: string; revision: string } }; answer: models.ModelReply };
    "/api/images": { asked: NoFields; answer: Static<typeof tasks.ImagesReply> };
    "/api/inference/jobs": { asked: { query?: Filled<jobs.JobListQuery, "limit"> }; answer: inference.DeploymentListReply };
    "/api/inference/jobs/{id}": { asked: { params: { id: string } }; answer: inference.DeploymentReply };
    "/api/inference/jobs/{id}/metrics": { asked: { params: { id: string } }; answer: inference.DeploymentMetrics };
    "/api/inference/metrics": { asked: NoFields; answer: inference.DeploymentMetricsList };
    "/api/inference/usage": { asked: { query?: inference.UsageQuery }; answer: inference.UsageReply };
    "/api/job-mails": { asked: NoFields; answer: jobs.JobMailsReply };
    "/api/job-states": { asked: { query?: Filled<Static<typeof tasks.JobPageQuery>, "limit" | "offset"> }; answer: Array<tasks.JobStateReply> };
    "/api/job-states/{id}": { asked: { params: { id: string } }; answer: tasks.JobStateReply };
    "/api/jobs": { asked: { query?: Filled<jobs.JobListQuery, "limit"> }; answer: jobs.JobListReply };
    "/api/jobs/{id}/devices": { asked: { params: { id: string } }; answer: jobs.JobMetricsReply };
    "/api/jobs/{id}/history": { asked: { params: { id: string } }; answer: jobs.JobHistoryReply };
    "/api/jobs/{id}/inputs": { asked: { params: { id: string } }; answer: jobs.JobInputsReply };
    "/api/jobs/{id}/logs": { asked: { params: { id: string } }; answer: jobs.JobLogsReply };
    "/api/jobs/{id}/logs/search": { asked: { params: { id: string }; query: Filled<jobs.JobLogSearchQuery, "case" | "skip" | "limit" | "context"> }; answer: jobs.JobLogSearchReply };
    "/api/jobs/{id}/logs/{member}": { asked: { params: { id: string; member: string }; query?: Filled<Static<typeof jobs.JobLogQuery>, "offset" | "bytes"> }; answer: jobs.JobLogReply };
    "/api/jobs/{id}/metrics": { asked: { params: { id: string } }; answer: jobs.JobMetricsReply };
    "/api/jobs/{id}/use": { asked: { params: { id: string }; query?: Filled<use.UseQuery, "points"> }; answer: use.UseReply };
    "/api/keys": { asked: NoFields; answer: Array<identity.KeyReply> };
    "/api/me": { asked: NoFields; answer: identity.CallerReply };
    "/api/me/ssh-keys": { asked: NoFields; answer: identity.SshKeysReply };
    "/api/models": { asked: { query?: Static<typeof models.RepositoryQuery> }; answer: Static<typeof models.RepositoryListReply> };
    "/api/models/{organisation}/{model}": { asked: { params: { organisation: string; model: string } }; answer: Static<typeof models.RepositoryReply> };
    "/api/models/{organisation}/{model}/revision/{revision}": { asked: { params: { organisation: string; model: string; revision: string } }; answer: Static<typeof models.RepositoryReply> };
    "/api/models/{organisation}/{model}/tree/{revision}": { asked: { params: { organisation: string; model: string; revision: string } }; answer: Static<typeof models.TreeReply> };
    "/api/nodes": { asked: NoFields; answer: Array<nodes.NodeReply> };
    "/api/nodes/{id}": { asked: { params: { id: string } }; answer: nodes.NodeDetailReply };
    "/api/nodes/{id}/use": { asked: { params: { id: string }; query?: Filled<use.UseQuery, "points"> }; answer: use.UseReply };
    "/api/openapi.json": { asked: NoFields; answer: object };
    "/api/people": { asked: NoFields; answer: Array<approvals.PersonReply> };
    "/api/people/{id}/sessions": { asked: { params: { id: string } }; answer: identity.SessionsReply };
    "/api/projects": { asked: NoFields; answer: Array<projects.ProjectReply> };
    "/api/projects/{id}/members": { asked: { params: { id: string } }; answer: Array<projects.MemberReply> };
    "/api/projects/{id}/service-accounts": { asked: { params: { id: string } }; answer: Array<serviceAccounts.ServiceAccountReply> };
    "/api/session": { asked: NoFields; answer: identity.SessionReply };
    "/api/tasks/{id}": { asked: { params: { id: string } }; answer: tasks.TaskReply };
    "/api/tasks/{id}/outputs": { asked: { params: { id: string } }; answer: tasks.TaskOutputsReply };
    "/api/use": { asked: { query?: Filled<use.UseQuery, "points"> }; answer: use.UseReply };
    "/api/users/storage/bucket": { asked: NoFields; answer: storage.BucketReply };
    "/api/users/storage/objects": { asked: { query?: Filled<Static<typeof storage.ObjectsQuery>, "limit"> }; answer: storage.ObjectsReply };
    "/api/users/storage/usage": { asked: NoFields; answer: storage.UsageReply };
    "/api/whoami-v2": { asked: NoFields; answer: Static<typeof models.WhoAmIReply> };
  };
  POST: {
    "/api/approvals": { asked: { body: Static<typeof approvals.ApprovalBody> }; answer: approvals.ApprovalReply };
    "/api/approvals/{id}/approve": { asked: { params: { id: string }; body: Static<typeof approvals.AnswerBody> }; answer: approvals.ApprovalReply };
    "/api/approvals/{id}/deny": { asked: { params: { id: string }; body: Static<typeof approvals.AnswerBody> }; answer: approvals.ApprovalReply };
    "/api/approvals/{id}/sign": { asked: { params: { id: string }; body: Static<typeof approvals.SignBody> }; answer: approvals.SignReply };
    "/api/approvals/{id}/withdraw": { asked: { params: { id: string } }; answer: approvals.ApprovalReply };
    "/api/hub/models": { asked: { body: models.AddModelBody }; answer: models.ModelReply };
    "/api/inference/jobs": { asked: { body: inference.DeployBody }; answer: inference.DeployedReply };
    "/api/inference/jobs/{id}/rotate-key": { asked: { params: { id: string } }; answer: inference.RotatedPredictKeyReply };
    "/api/keys": { asked: { body: Static<typeof identity.MintKeyBody> }; answer: identity.MintedKeyReply };
    "/api/nodes/invitations": { asked: { body: Static<typeof nodes.InviteNodeBody> }; answer: nodes.InviteNodeReply };
    "/api/nodes/join": { asked: { body: { token: string; csr: string } }; answer: { node: string; certChain: string; rootCert: string; natsUrl: string; registry: string } };
    "/api/nodes/{id}/drain": { asked: { params: { id: string } }; answer: Static<typeof nodes.NodeChangedReply> };
    "/api/nodes/{id}/undrain": { asked: { params: { id: string } }; answer: Static<typeof nodes.NodeChangedReply> };
    "/api/people/{id}/acknowledge": { asked: { params: { id: string } }; answer: Record<string, never> };
    "/api/projects": { asked: { body: projects.CreateProjectBody }; answer: projects.ProjectReply };
    "/api/projects/{id}/handover": { asked: { params: { id: string }; body: Static<typeof projects.HandoverBody> }; answer: projects.HandoverReply };
    "/api/projects/{id}/members": { asked: { params: { id: string }; body: Static<typeof projects.MemberBody> }; answer: projects.MemberReply };
    "/api/projects/{id}/service-accounts": { asked: { params: { id: string }; body: Static<typeof serviceAccounts.CreateServiceAccountBody> }; answer: serviceAccounts.ServiceAccountReply };
    "/api/projects/{id}/service-accounts/{account}/adopt": { asked: { params: { id: string; account: string } }; answer: serviceAccounts.ServiceAccountReply };
    "/api/session/activity": { asked: NoFields; answer: Record<string, never> };
    "/api/tasks": { asked: { body: tasks.SubmitTaskBody }; answer: tasks.TaskReply };
    "/api/tasks/{id}/cancel": { asked: { params: { id: string } }; answer: tasks.TaskReply };
    "/api/tasks/{id}/resubmit": { asked: { params: { id: string } }; answer: tasks.TaskReply };
    "/api/users/storage/download": { asked: { body: Static<typeof storage.DownloadBody> }; answer: storage.DownloadReply };
    "/api/users/storage/upload/abort": { asked: { body: Static<typeof storage.UploadAbortBody> }; answer: { aborted: boolean } };
    "/api/users/storage/upload/complete": { asked: { body: Static<typeof storage.UploadCompleteBody> }; answer: Static<typeof storage.UploadCompleteReply> };
    "/api/users/storage/upload/init": { asked: { body: Static<typeof storage.UploadInitBody> }; answer: Static<typeof storage.UploadInitReply> };
    "/auth/sign-out": { asked: NoFields; answer: Static<typeof identity.SignOutReply> };
    "/auth/sign-out-everywhere": { asked: NoFields; answer: Static<typeof identity.SignOutReply> };
  };
  PUT: {
    "/api/job-mails": { asked: NoFields; answer: jobs.JobMailsReply };
    "/api/job-mails/{id}": { asked: { params: { id: string } }; answer: jobs.JobMailsReply };
    "/api/me/ssh-keys": { asked: { body: Static<typeof identity.SshKeysBody> }; answer: identity.SshKeysReply };
    "/api/projects/{id}/exports": { asked: { params: { id: string }; body: Static<typeof projects.ExportsBody> }; answer: Static<typeof projects.ExportsBody> };
    "/api/projects/{id}/models": { asked: { params: { id: string }; body: Static<typeof projects.ModelsBody> }; answer: Static<typeof projects.ModelsBody> };
  };
  PATCH: {
    "/api/users/storage/bucket/rotate-key": { asked: NoFields; answer: storage.RotatedKeyReply };
  };
  DELETE: {
    "/api/hub/models/{organisation}/{model}/{revision}": { asked: { params: { organisation: string; model: string; revision: string } }; answer: models.ModelReply };
    "/api/inference/jobs/{id}": { asked: { params: { id: string } }; answer: inference.DeploymentReply };
    "/api/job-mails": { asked: NoFields; answer: jobs.JobMailsReply };
    "/api/job-mails/{id}": { asked: { params: { id: string } }; answer: jobs.JobMailsReply };
    "/api/keys/{id}": { asked: { params: { id: string } }; answer: { id: string; revoked: boolean } };
    "/api/people/{id}/sessions/{session}": { asked: { params: { id: string; session: string } }; answer: Record<string, never> };
    "/api/projects/{id}/members/{user}": { asked: { params: { id: string; user: string } }; answer: Record<string, never> };
    "/api/projects/{id}/service-accounts/{account}": { asked: { params: { id: string; account: string } }; answer: serviceAccounts.ServiceAccountReply };
    "/api/tasks/{id}/outputs": { asked: { params: { id: string } }; answer: Static<typeof tasks.RemovedOutputsReply> };
    "/api/users/storage/objects": { asked: { query: Static<typeof storage.RemoveObjectQuery> }; answer: Static<typeof storage.RemoveObjectReply> };
  };
};
