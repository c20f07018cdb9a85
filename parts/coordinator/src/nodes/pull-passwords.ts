import type {
  PullTokenReply,
  PullTokenRequest,
  TrialReply,
  TrialRequest,
} from "@resontech/contracts/agent-protocol";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { NodeCaller } from "../authorization/caller.ts";
import { isAllowed } from "../authorization/demand.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import { imageFor, whyNoImage } from "../kernel/decisions/member-image.ts";
import { isMemberWorking } from "../kernel/decisions/member-machine.ts";
import { deviceFactsOf, memberImageReference, memberImageOf } from "../kernel/job-images.ts";
import type { JobTable } from "../kernel/job-table.ts";
import type { WorkerRow } from "../kernel/rows.ts";
import { AgentRefusal } from "../kernel/agent-refusal.ts";
import type { Registry } from "./registry.ts";

/** A one-use password for the image of a member, and no other. @throws AgentRefusal `stale_fence`, `not_allowed` */
export function pullPassword(
  {
    registry,
    jobs,
    passwords,
  }: { registry: Registry; jobs: JobTable; passwords: RegistryPasswords },
  caller: NodeCaller,
  { member: id, fence }: PullTokenRequest,
): PullTokenReply {
  const member = registry.fenced(caller, id, fence);
  if (member.desired !== "run" || !isMemberWorking(member.state))
    throw new AgentRefusal("not_allowed", `member ${id} needs no image any more`);
  const reference = memberImageReference(jobs.get(member.job_id)!, member);
  return passwords.issue(repositoryOf(reference), { ...fence, node: caller.node, member: id });
}

/**
 * With which image a worker of the asking node is tried: the one that a job on it would run.
 * @throws AgentRefusal `not_found` for a worker that is none of this node's
 */
export function trialPull(
  {
    db,
    images,
    passwords,
  }: { db: WriteHandle; images: readonly JobImage[]; passwords: RegistryPasswords },
  caller: NodeCaller,
  { worker: id }: TrialRequest,
): TrialReply {
  const worker = db
    .prepare<[string], WorkerRow>("SELECT * FROM workers WHERE id = ? AND is_present = 1")
    .get(id);
  if (worker === undefined || !isAllowed(caller, "agent.trial", { node: worker.node_id }))
    throw new AgentRefusal("not_found", `${caller.node} has no worker ${id}`);
  const device = deviceFactsOf(worker);
  const offered = images.map(memberImageOf);
  const image = imageFor(offered, device);
  if (image === null) return { pull: null, noImage: whyNoImage(offered, device) };
  const { reference } = image;
  const login = passwords.issue(repositoryOf(reference), { node: caller.node });
  return { pull: { image: reference, ...login }, noImage: null };
}

/** `<registry>/<repository>@sha256:<digest>` → `<repository>` */
function repositoryOf(reference: string): string {
  const withoutDigest = reference.slice(0, reference.indexOf("@"));
  return withoutDigest.slice(withoutDigest.indexOf("/") + 1);
}
