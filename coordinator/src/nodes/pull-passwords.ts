import type { PullTokenReply, PullTokenRequest } from "@resontech/contracts/agent-protocol";
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

/** `<registry>/<repository>@sha256:<digest>` → `<repository>` */
function repositoryOf(reference: string): string {
  const withoutDigest = reference.slice(0, reference.indexOf("@"));
  return withoutDigest.slice(withoutDigest.indexOf("/") + 1);
}
