import type { Requested } from "@resontech/contracts/http-approvals";
import { shareWords } from "./share-words.ts";

/** What would be different, in words. @param name of a person or a project, or a digest; of an export who asks, of a disclosure who receives */
export function summaryOf(what: Requested, name: string): string {
  switch (what.kind) {
    case "role":
      return what.change === "grant"
        ? `${name} becomes ${what.role}`
        : `${name} is ${what.role} no longer`;
    case "second-factor":
      return `${name} loses every passkey and code generator, and sets up a new one at the next sign-in`;
    case "policy":
      return `who may do what is decided by the policies ${name}`;
    case "export":
      return `${name} may read ${what.files.length} output${what.files.length === 1 ? "" : "s"} of job ${what.jobId} for a day`;
    case "erasure":
      return `what opens the values of ${what.subject} in the audit log is destroyed (${what.request}, ${what.legalBasis})`;
    case "hold":
      return `nothing of ${what.subject} in the audit log is erased while the legal hold ${what.hold} stands`;
    case "lift":
      return `the legal hold ${what.hold} of ${what.subject} ends`;
    case "disclosure":
      return `${name} gets what the entries of ${what.subjects.join(", ")} in shard ${what.shard} of the audit log hold`;
    case "audit-policy":
      return `the audit log's trust policy becomes the one whose SHA-256 is ${name}`;
    case "image":
      return `deployments may run the image ${what.digest} under the name ${name}`;
    case "share":
      return `the share of ${name} becomes ${shareWords(what)}`;
    case "quota":
      return `the bucket of ${name} may hold ${what.bytes} bytes`;
  }
}
