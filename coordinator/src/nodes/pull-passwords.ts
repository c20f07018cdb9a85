import type {
  JoinReply,
  PullTokenReply,
  PullTokenRequest,
} from "@resontech/contracts/agent-protocol";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { NodeCaller } from "../authorization/caller.ts";
import type { RegistryPasswords } from "../identity/registry-passwords.ts";
import { isMemberWorking } from "../kernel/decisions/member-machine.ts";
import { imageReference } from "../kernel/job-images.ts";
import type { JobTable } from "../kernel/job-table.ts";
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
  const reference = imageReference(jobs.get(member.job_id)!, member);
  return passwords.issue(repositoryOf(reference), { ...fence, node: caller.node, member: id });
}

/** As long as a join token lives unless said otherwise: an install that is broken off and goes on still has it. */
const TRIAL_S = 3600;

/** A password for the first image that runs on every node; null where there is none. */
export function trialPull(
  passwords: RegistryPasswords,
  images: readonly JobImage[],
  node: string,
): NonNullable<JoinReply["trial"]> | null {
  const image = images.find(({ needs }) => needs === undefined);
  if (image === undefined) return null;
  const { reference } = image;
  return { image: reference, ...passwords.issue(repositoryOf(reference), { node }, TRIAL_S) };
}

/** `<registry>/<repository>@sha256:<digest>` → `<repository>` */
function repositoryOf(reference: string): string {
  const withoutDigest = reference.slice(0, reference.indexOf("@"));
  return withoutDigest.slice(withoutDigest.indexOf("/") + 1);
}
