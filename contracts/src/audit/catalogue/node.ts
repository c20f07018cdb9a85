/** What a node's own agent says, signed with its key. */
import { Type } from "typebox";
import { Code, Count, PlainId } from "../audit-event.ts";
import { type CatalogueEntry, fact } from "./entry.ts";
import { closed } from "../../closed.ts";

/** Which job, attempt and fence a node speaks of. */
const OfMember = { job: PlainId, attempt: PlainId, generation: Count, counter: Count };

export const NODE_EVENTS = {
  "job.node.image": fact(
    "member",
    "A node's agent asked its engine for the image of a member by digest, and has it.",
    Type.Object({ ...OfMember, pulled: Type.Boolean() }, closed),
  ),
  "job.node.staged": fact(
    "member",
    "Inputs and image of a member are in place on its node.",
    Type.Object({ ...OfMember, bytes: Count, inputs: Count }, closed),
  ),
  "job.node.started": fact(
    "member",
    "A node's agent started the container of a member.",
    Type.Object({ ...OfMember, container: PlainId }, closed),
  ),
  "job.node.ended": fact(
    "member",
    "The container of a member ended; its exit code as the node's engine has it.",
    Type.Object(
      {
        ...OfMember,
        exit_code: Type.Integer({ minimum: 0, maximum: 255 }),
        out_of_memory: Type.Boolean(),
      },
      closed,
    ),
  ),
  "job.node.failed": fact(
    "member",
    "A member failed on its node; `reason` says why.",
    Type.Object({ ...OfMember, reason: Code }, closed),
  ),
  "job.node.released": fact(
    "member",
    "A node's agent looked whether anything of a member is left: processes, disk, use of devices.",
    Type.Object(
      {
        ...OfMember,
        processes_gone: Type.Boolean(),
        disk_gone: Type.Boolean(),
        devices_at_baseline: Type.Boolean(),
      },
      closed,
    ),
  ),
  "job.node.lease-lost": fact(
    "node",
    "The lease of a node lapsed: its agent ends every member.",
    Type.Object({ members: Count }, closed),
  ),
  "model.node.output": fact(
    "member",
    "One file left a node for the object store, with its digest as the node computed it.",
    Type.Object({ ...OfMember, bytes: Count, area: Code }, closed),
  ),
} as const satisfies Record<string, CatalogueEntry>;
