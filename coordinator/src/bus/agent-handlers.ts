import type { AuditProducer } from "@resontech/audit/producer";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import type { KernelParts } from "../kernel/build-kernel.ts";
import type { AttemptSigning } from "../nodes/attempt-signing.ts";
import { pullPassword } from "../nodes/pull-passwords.ts";
import type { OutputUploads } from "../outputs/output-uploads.ts";
import type { InputStaging } from "../outputs/stage-inputs.ts";
import type { AgentHandlers } from "./agent-requests.ts";

export type HandlerParts = KernelParts & {
  signing: AttemptSigning;
  staging: InputStaging;
  uploads: OutputUploads;
  passwords: RegistryPasswords;
  gate: Pick<AuditProducer, "relay">;
  /** Lines of a job's live tail, for whoever watches. */
  onTail: (job: string, member: string, text: string) => void;
};

/** One handler a verb. Every one but `register` and `tail` demands the node's current epoch first. */
export function agentHandlers(parts: HandlerParts): AgentHandlers {
  const { commit, registry, desiredSets, reports, signing, staging, uploads, jobs, members, passwords, gate, onTail } = parts;
  return {
    register: (node, request) => commit.run(() => registry.register(node, request)),
    beat: async (node, request) => {
      // Most beats change no row: they are answered without a commit.
      if (registry.isEventful(node, request)) await commit.run(() => registry.hear(node, request));
      else registry.hear(node, request);
      return registry.beatReply(node, request);
    },
    desired: (node, { nodeEpoch }) =>
      commit.run(() => {
        registry.current(node, nodeEpoch);
        return desiredSets.fetch(node);
      }),
    report: (node, { nodeEpoch, reports: told }) =>
      commit.run(() => {
        registry.current(node, nodeEpoch);
        return reports.take(node, told);
      }),
    stage: (node, request) => {
      registry.current(node, request.nodeEpoch);
      return staging.stage(node, request);
    },
    sign: (node, request) => {
      registry.current(node, request.nodeEpoch);
      return signing.sign(node, request);
    },
    "pull-token": (node, request) => {
      registry.current(node, request.nodeEpoch);
      return pullPassword({ registry, jobs, passwords }, node, request);
    },
    "output-open": (node, request) => {
      registry.current(node, request.nodeEpoch);
      return uploads.open(node, request);
    },
    "output-parts": (node, request) => {
      registry.current(node, request.nodeEpoch);
      return uploads.parts(node, request);
    },
    "output-complete": (node, request) => {
      registry.current(node, request.nodeEpoch);
      return uploads.complete(node, request);
    },
    // Signed by the node itself, so its epoch is nobody's concern: a node that is fenced off has still something to say.
    audit: (node, events) => gate.relay(node, events),
    tail: (node, { job, member, text }) => {
      if (members.get(member)?.node_id === node) onTail(job, member, text);
      return {};
    },
  };
}
