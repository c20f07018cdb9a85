import type { AuditProducer } from "@resontech/audit/producer";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { WriteHandle } from "../db/open-database.ts";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { Clock } from "../kernel/clock.ts";
import type { Feed } from "../feed/feed.ts";
import type { DesiredSets } from "../kernel/desired-set.ts";
import type { JobTable } from "../kernel/job-table.ts";
import type { MemberTable } from "../kernel/member-table.ts";
import type { Reports } from "../kernel/take-reports.ts";
import type { AttemptSigning } from "../nodes/attempt-signing.ts";
import type { NodeRenewals } from "../nodes/node-renewals.ts";
import { mayMemberWrite } from "../kernel/decisions/member-machine.ts";
import { pullPassword, trialPull } from "../nodes/pull-passwords.ts";
import { isHeldBy, type Registry } from "../nodes/registry.ts";
import type { OutputUploads } from "../outputs/output-uploads.ts";
import type { InputStaging } from "../outputs/stage-inputs.ts";
import type { AgentHandlers } from "./agent-requests.ts";

export type HandlerParts = {
  db: WriteHandle;
  commit: GroupCommit;
  clock: Clock;
  feed: Feed;
  registry: Registry;
  desiredSets: DesiredSets;
  reports: Reports;
  jobs: JobTable;
  members: MemberTable;
  signing: AttemptSigning;
  renewals: Pick<NodeRenewals, "renew">;
  staging: InputStaging;
  uploads: OutputUploads;
  passwords: RegistryPasswords;
  /** Of the release. */
  images: readonly JobImage[];
  gate: Pick<AuditProducer, "relay">;
};

/** One handler a verb. Every one but `register` and `tail` demands the node's current epoch first. */
export function agentHandlers(parts: HandlerParts): AgentHandlers {
  const {
    commit,
    registry,
    desiredSets,
    reports,
    signing,
    renewals,
    staging,
    uploads,
    jobs,
    members,
    passwords,
    gate,
  } = parts;
  const { clock, feed } = parts;
  return {
    register: ({ node }, request) => commit.run(() => registry.register(node, request)),
    beat: async ({ node }, request) => {
      // Most beats change no row: they are answered without a commit.
      if (registry.isEventful(node, request)) await commit.run(() => registry.hear(node, request));
      else registry.hear(node, request);
      return registry.beatReply(node, request);
    },
    desired: ({ node }, { nodeEpoch }) =>
      commit.run(() => {
        registry.current(node, nodeEpoch);
        return desiredSets.claimAndTell(node);
      }),
    report: (caller, { nodeEpoch, reports: told }) =>
      commit.run(() => {
        registry.current(caller.node, nodeEpoch);
        return reports.take(told, (member) => isHeldBy(caller, member));
      }),
    stage: (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return staging.stage(caller, request);
    },
    sign: (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return signing.sign(caller, request);
    },
    renew: (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return renewals.renew(caller, request);
    },
    "pull-token": (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return pullPassword({ registry, jobs, passwords }, caller, request);
    },
    trial: (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return trialPull(parts, caller, request);
    },
    "output-open": (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return uploads.open(caller, request);
    },
    "output-parts": (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return uploads.parts(caller, request);
    },
    "output-complete": (caller, request) => {
      registry.current(caller.node, request.nodeEpoch);
      return uploads.complete(caller, request);
    },
    // Signed by the node itself, so its epoch is nobody's concern: a node that is fenced off has still something to say.
    audit: ({ node }, events) => gate.relay(node, events),
    // A member that lost its authority is fenced, or over: its state says so without a fence in each message.
    tail: (caller, { job: jobId, member: id, offset, bytes, text }) => {
      const member = members.get(id);
      const job = jobs.get(jobId);
      if (member === undefined || job === undefined || member.job_id !== job.id) return {};
      if (!isHeldBy(caller, member) || !mayMemberWrite(member.state)) return {};
      const whose = { projectId: job.project_id, userId: job.user_id };
      feed.publishLog(
        { kind: "log", job: job.id, member: id, offset, bytes, text },
        whose,
        clock.now(),
      );
      return {};
    },
  };
}
