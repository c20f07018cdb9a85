/** Who signs in and is refused; users, projects, nodes. */
import { Type } from "typebox";
import { Code, Count, PlainId, Sha256Hex } from "../audit-event.ts";
import { type CatalogueEntry, fact, NoDetail, observed, operation } from "./entry.ts";
import { ByRequest, Claimed, Repeated } from "./fields.ts";
import { closed } from "../../closed.ts";

export const IDENTITY_EVENTS = {
  "auth.failure": fact(
    "appliance",
    "Requests refused for a missing, malformed, revoked or expired credential; repeats of one source and reason are counted for a minute.",
    Type.Object({ reason: Code, count: Count, window_s: Count }, closed),
  ),
  "auth.refused": fact(
    "appliance",
    "A known actor asked for something that its role or project does not allow; `project` is the one that the actor came with. `kind`: a row of this kind is there, and was answered as one that is not.",
    Type.Object(
      {
        ...{ reason: Code, project: Type.Optional(PlainId), kind: Type.Optional(Code) },
        ...{ ...Claimed, ...Repeated },
      },
      closed,
    ),
  ),
  "auth.session.begin": fact(
    "user",
    "A person signed in through the identity provider, or showed a second factor; `again` where the browser had a session already.",
    Type.Object({ again: Type.Boolean() }, closed),
  ),
  "auth.session.end": fact(
    "user",
    "A session of a browser or a shell ended: by the person, by an administrator, by time, or because the identity provider said that it is over.",
    Type.Object(
      {
        reason: Type.Enum([
          ...["signed_out", "idle", "expired", "removed", "back_channel", "disabled"],
          ...["revoked", "key_lost"],
        ]),
      },
      closed,
    ),
  ),
  "auth.session.list": fact(
    "user",
    "The sessions of a person were listed.",
    Type.Object({ count: Count }, closed),
  ),
  "auth.session.refused": fact(
    "appliance",
    "A sign-in came back from the identity provider and was refused: forged, replayed, too late, or of somebody who may not come in.",
    Type.Object({ reason: Code, ...Repeated }, closed),
  ),
  "auth.service-account.use": fact(
    "user",
    "A service account came with a new access token; a token is good for five minutes.",
    Type.Object({ project: PlainId }, closed),
  ),
  "auth.idp.sign-in": observed(
    "appliance",
    "The identity provider let somebody in; `provider` names the connection that vouched. Name and address are commitments.",
    { what: Code, client: Type.Optional(Code), provider: Type.Optional(Code) },
  ),
  "auth.idp.failure": observed(
    "appliance",
    "The identity provider refused something: a password, a code, a token; `reason` is its own word.",
    {
      ...{ what: Code, reason: Code, client: Type.Optional(Code), provider: Type.Optional(Code) },
      /** Whose name was tried. */
      user: Type.Optional(PlainId),
    },
  ),
  "auth.idp.account": observed(
    "appliance",
    "Somebody signed out at the identity provider, or a credential was changed, set up, removed or locked there.",
    { what: Code, client: Type.Optional(Code) },
  ),
  "auth.idp.admin": observed(
    "appliance",
    "Something was changed through the identity provider's admin API: by the appliance, the coordinator, or whoever got in.",
    { what: Code, resource: Code, reason: Type.Optional(Code) },
  ),
  "auth.idp.drift": fact(
    "appliance",
    "The identity provider's realm differs from what the release and the operator say, or agrees again (`differences` is 0).",
    Type.Object({ differences: Count }, closed),
  ),
  "auth.idp.keys": fact(
    "appliance",
    "Keys by whose signatures people are believed to have agreed came or went: the identity provider's realm has others.",
    Type.Object({ added: Count, retired: Count }, closed),
  ),
  "auth.host.login": observed(
    "appliance",
    "Somebody signed in at the host itself: console, SSH; its name and address are commitments.",
    {
      /** Of the session's first process, as the host has it: pairs sign-in and sign-out. */
      pid: Count,
    },
  ),
  "auth.host.logout": observed("appliance", "A session at the host itself ended.", { pid: Count }),
  "iam.user.create": operation(
    "user",
    "A user was made: with a default project, or with a duty on the whole appliance and without one.",
    Type.Object(
      {
        admin: Type.Optional(Type.Boolean()),
        duty: Type.Optional(Type.Enum(["platform-admin", "compliance-auditor"])),
      },
      closed,
    ),
  ),
  "iam.user.change": operation(
    "user",
    "A user was disabled, enabled or forgotten, was given another quota or a password for one sign-in, lost the second factor, or changed the own SSH keys.",
    Type.Object(
      {
        change: Type.Enum([
          ...["disabled", "enabled", "forgotten", "quota", "password", "second-factor", "ssh-keys"],
        ]),
        ...ByRequest,
        quota_bytes: Type.Optional(Count),
        keys: Type.Optional(Count),
      },
      closed,
    ),
  ),
  "iam.user.left": fact(
    "user",
    "The account of a user is gone or disabled where it was kept: sessions end, keys rest, key pairs of buckets are void.",
    NoDetail,
  ),
  "iam.group.map": operation(
    "appliance",
    "A group of a connected directory gives a role in a project, or asks for a role of the whole appliance; or no longer.",
    Type.Object(
      {
        change: Type.Enum(["given", "taken"]),
        role: Type.Optional(Code),
        project: Type.Optional(PlainId),
      },
      closed,
    ),
  ),
  "iam.role.request": fact(
    "user",
    "A group would give a user a role of the whole appliance: it is not given but asked for.",
    Type.Object({ role: Code }, closed),
  ),
  "iam.role.withheld": fact(
    "user",
    "A person's token names `roles` of the whole appliance that were not taken, because duties exclude each other; `held` are those that were. Without roles: it is over.",
    Type.Object(
      { roles: Type.Array(Code, { maxItems: 8 }), held: Type.Array(Code, { maxItems: 8 }) },
      closed,
    ),
  ),
  "iam.node.change": operation(
    "node",
    "A node was taken out of placement, given back to it, rid of its work, or taken out of the register; or it is to bring `release`.",
    Type.Object(
      {
        change: Type.Enum(["drained", "undrained", "evicted", "removed", "upgrade-ordered"]),
        release: Type.Optional(PlainId),
      },
      closed,
    ),
  ),
  "iam.role.change": operation(
    "user",
    "A person was given a role of the whole appliance, or lost it; `approval` names the request. Without one the host's root made an administrator.",
    Type.Object(
      {
        role: Code,
        change: Type.Enum(["grant", "revoke"]),
        ...ByRequest,
      },
      closed,
    ),
  ),
  "iam.role.acknowledge": operation(
    "user",
    "A second person acknowledged an administrator whom the host's root made.",
    Type.Object({ role: Code }, closed),
  ),
  "iam.people.read": fact(
    "appliance",
    "The people of the appliance were listed with their roles.",
    Type.Object({ count: Count }, closed),
  ),
  "iam.access.review": fact(
    "appliance",
    "Who may do what was listed for a review: people with roles, projects, keys and last sign-in, and programs.",
    Type.Object({ people: Count, programs: Count }, closed),
  ),
  "iam.project.change": operation(
    "project",
    "A project's bucket was given another quota, the jobs of somebody who left were handed to another member, outputs leave by approval alone from now on, or no longer, or models that hold no numbers fail their jobs, or no longer.",
    Type.Object(
      {
        change: Type.Enum(["quota", "handover", "exports", "models"]),
        by_approval: Type.Optional(Type.Boolean()),
        refuses_non_finite: Type.Optional(Type.Boolean()),
        quota_bytes: Type.Optional(Count),
        /** Before the change. */
        quota_bytes_before: Type.Optional(Count),
        ...ByRequest,
        from: Type.Optional(PlainId),
        to: Type.Optional(PlainId),
        jobs: Type.Optional(Count),
      },
      closed,
    ),
  ),
  "iam.project.member": operation(
    "project",
    "Somebody became a member of a project, got another role in it, or left it and lost key pair and platform keys.",
    Type.Object(
      {
        change: Type.Enum(["grant", "revoke"]),
        member: PlainId,
        role: Type.Optional(Code),
        keys: Type.Optional(Count),
      },
      closed,
    ),
  ),
  "iam.project.members": fact(
    "project",
    "The members of a project were listed.",
    Type.Object({ count: Count }, closed),
  ),
  "iam.service-account.create": operation(
    "user",
    "A service account of a project was made: a program that signs in by a key of its own.",
    Type.Object({ project: PlainId, expires_in_s: Count }, closed),
  ),
  "iam.service-account.revoke": operation(
    "user",
    "A service account was revoked: its tokens are refused at once, and it gets no new one.",
    Type.Object({ project: PlainId }, closed),
  ),
  "iam.service-account.adopt": operation(
    "user",
    "A lead answers for a service account from now on, in place of who made it.",
    Type.Object({ project: PlainId }, closed),
  ),
  "iam.service-account.orphan": fact(
    "user",
    "Nobody answers for a service account any more: who did has left, or has a duty that leaves no data. It ends in seven days unless a lead adopts it.",
    Type.Object({ project: PlainId }, closed),
  ),
  "iam.service-account.end": fact(
    "user",
    "A service account ended: nobody had answered for it for seven days.",
    Type.Object({ project: PlainId }, closed),
  ),
  "iam.service-account.list": fact(
    "project",
    "The service accounts of a project were listed.",
    Type.Object({ count: Count }, closed),
  ),
  "iam.approval.request": operation(
    "approval",
    "Somebody asked for what needs a second person; `single_person` where there was none, and it was done at once.",
    Type.Object({ kind: Code, single_person: Type.Boolean() }, closed),
  ),
  "iam.approval.answer": operation(
    "approval",
    "A request was approved, denied or taken back; the effect of an approval is an operation of its own.",
    Type.Object({ kind: Code, answer: Type.Enum(["approved", "denied", "withdrawn"]) }, closed),
  ),
  "iam.approval.sign": fact(
    "approval",
    "A person signed by a second factor for a request, as asker or approver: SHA-256 of the token that the identity provider signed.",
    Type.Object({ answer: Type.Enum(["request", "approve"]), token_sha256: Sha256Hex }, closed),
  ),
  "iam.approval.expire": fact("approval", "A request ended that nobody had answered.", NoDetail),
  "iam.project.create": operation(
    "project",
    "A project was made, with its first lead.",
    Type.Object({ lead: Type.Optional(PlainId) }, closed),
  ),
  "iam.node.join-token": operation(
    "node",
    "A one-use token to join a node was made.",
    Type.Object({ ttl_s: Type.Optional(Count) }, closed),
  ),
  "iam.node.join": operation(
    "node",
    "A node used its token and received its certificate.",
    Type.Object({ certificate_sha256: Type.Optional(Sha256Hex) }, closed),
  ),
  "iam.node.renew": fact(
    "node",
    "A node got its next certificate, for a new key; the one before is void once it has come with this one. `late`: that one had ended, and admitted it within the grace.",
    Type.Object({ certificate_sha256: Sha256Hex, late: Type.Boolean() }, closed),
  ),
  "iam.node.register": fact(
    "node",
    "A node registered and received a new epoch; the older one is void. `release` is what it runs.",
    Type.Object(
      {
        generation: Count,
        counter: Count,
        workers: Type.Optional(Count),
        release: Type.Optional(PlainId),
      },
      closed,
    ),
  ),
  "iam.node.lost": fact(
    "node",
    "A node did not answer in time; its members are fenced.",
    Type.Object({ generation: Count, counter: Count }, closed),
  ),
} as const satisfies Record<string, CatalogueEntry>;
