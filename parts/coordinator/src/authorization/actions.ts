/**
 * Everything that anybody may ask for, and what it is done to. Who may do it stands in `policies/cedar/`, whose schema lists the same
 * actions: a set of policies that differs from this list, or that has no rule for one of it, stops the start.
 */
import type { AgentVerb } from "@resontech/contracts/agent-protocol";
import type { FrontQuestion } from "@resontech/contracts/s3-front-protocol";
import type { ResourceKind, RESOURCES } from "./resources.ts";

export const ACTIONS = {
  "job.submit": "job",
  /** With that class: asked beside `job.submit`, also where the job names none and has that of its kind. */
  "job.class.interactive": "job",
  "job.class.train": "job",
  "job.class.scavenger": "job",
  /** Before all other jobs of its project: the class of the appliance's own work. */
  "job.class.system": "appliance",
  /** A task is made of objects of this bucket. */
  "job.inputs.read": "bucket",
  "job.list": "job",
  "job.read": "job",
  "job.cancel": "job",
  /** Jobs that repeat by a calendar: a row is its owner's, in a project, as a job is. */
  "schedule.list": "job",
  "schedule.create": "job",
  /** Pauses, resumes or removes it. */
  "schedule.change": "job",
  "job.outputs.list": "job",
  "job.outputs.remove": "job",
  /** A new key to call a deployment, in place of the one before it. */
  "deployment.key.rotate": "job",
  /** States alone, nothing that a user wrote into a job: who runs the box is no reader of the data. */
  "job.state.list": "job",
  "job.state.read": "job",

  "bucket.read": "bucket",
  "bucket.write": "bucket",
  "bucket.key.rotate": "bucket",

  "model.list": "appliance",
  "model.read": "appliance",
  /** Of the hub, for everybody: by the bucket where its files lie. */
  "model.add": "bucket",
  "model.remove": "bucket",

  "key.list": "key",
  /** In a project of which one is a member. */
  "key.mint": "project",
  "key.revoke": "key",
  "key.renew": "key",

  "project.list": "project",
  "project.site-files": "project",
  "project.create": "appliance",
  "exports.guard": "project",
  "exports.open": "project",
  /** Whether a model that holds no numbers fails its job. */
  "models.guard": "project",
  "membership.list": "membership",
  "membership.change": "membership",
  /** Takes somebody out of a project. */
  "membership.end": "membership",

  /** Of a project. */
  "service-account.list": "project",
  "service-account.create": "project",
  "service-account.revoke": "project",
  /** Somebody who leads the project answers for it from then on. */
  "service-account.adopt": "project",

  "user.list": "user",
  "user.read": "user",
  "user.create": "user",
  "user.password": "user",
  "user.quota": "user",
  "user.disable": "user",
  "user.enable": "user",
  "people.read": "user",
  /** All that is held about a person. */
  "person.data": "user",
  "session.list": "session",
  "session.end": "session",
  "identity.diff": "appliance",
  "identity.apply": "appliance",

  /** To decide is to approve or to deny. */
  "approval.list": "approval",
  "approval.read": "approval",
  "approval.proof": "appliance",
  "role.request": "appliance",
  "role.decide": "approval",
  "role.change": "appliance",
  "factor.request": "appliance",
  "factor.decide": "approval",
  "factor.reset": "appliance",
  "approval.withdraw": "approval",
  "export.request": "job",
  "export.decide": "approval",
  "quota.request": "project",
  "quota.decide": "approval",
  "erasure.request": "appliance",
  "erasure.decide": "approval",
  "erasure.order": "appliance",
  /** A legal hold, by one signature; its end and a disclosure take two, always. */
  "hold.set": "appliance",
  "lift.request": "appliance",
  "lift.decide": "approval",
  "disclosure.request": "appliance",
  "disclosure.decide": "approval",
  /** An image of the customer's own, by two people's word. */
  "image.request": "appliance",
  "image.decide": "approval",
  "image.admit": "appliance",
  /** Another guarantee, limit or weight that takes workers from what somebody is sure of. */
  "share.request": "appliance",
  "share.decide": "approval",
  "share.lower": "appliance",
  "policy.read": "appliance",
  "policy.propose": "appliance",
  "policy.change": "appliance",
  "policy.decide": "approval",

  "node.list": "node",
  "node.read": "node",
  "node.drain": "node",
  "node.undrain": "node",
  "node.evict": "node",
  "node.remove": "node",
  "node.upgrade": "node",
  "node.invite": "node",
  "node.join": "node",
  /** Workers, models with their prices, and job images. */
  "fleet.read": "appliance",

  "audit.search": "log",
  "audit.read": "log",

  /** A second person says that an administrator was rightly made at the host. */
  "administrator.acknowledge": "appliance",

  "appliance.status": "appliance",
  "appliance.maintain": "appliance",
  "share.list": "appliance",
  /** Of one's projects, with the sums of all above them. */
  "share.read": "project",
  "share.set": "appliance",
  /** All pools of nodes, and the calendar, by the host's root. */
  "pool.list": "appliance",
  /** Those that are everybody's, and of one's projects; and the calendar. */
  "pool.read": "project",
  "pool.set": "appliance",
  /** When nodes are for one project alone, or in maintenance. */
  "calendar.set": "appliance",
  /** Figures of the appliance, of no person and no one job. */
  "metrics.read": "appliance",
  /** Of the customer's own, and the keys that admit them. */
  "image.list": "appliance",
  "image.add": "appliance",
  "image.remove": "appliance",
  "image.trust": "appliance",
  /** A password that is good for pulling one repository. */
  "registry.login": "appliance",
  /** The token for it, against the password. */
  "registry.pull": "appliance",

  "agent.register": "node",
  "agent.beat": "node",
  "agent.desired": "node",
  "agent.report": "node",
  "agent.stage": "node",
  "agent.sign": "node",
  "agent.renew": "node",
  "agent.pull-token": "node",
  "agent.output-open": "node",
  "agent.output-parts": "node",
  "agent.output-complete": "node",
  "agent.audit": "node",
  "agent.tail": "node",
  "agent.trial": "node",
  "member.act": "member",

  "front.owner": "appliance",
  "front.bucket": "appliance",
  "front.quota": "appliance",
  "front.principal": "appliance",
  "front.outputs": "appliance",
  "front.export": "appliance",
  "front.part": "appliance",
  "front.object": "appliance",
} as const satisfies Record<string, ResourceKind> &
  Record<`agent.${AgentVerb}` | `front.${FrontQuestion["ask"]}`, ResourceKind>;

export type Action = keyof typeof ACTIONS;

/**
 * Actions that a set of the release before has no rule for, and what each was until then. Such a set decides them so, and loads.
 * A line goes when no release that lacks the action can be upgraded from.
 */
export const STAND_INS: Partial<Record<Action, Action>> = {
  "membership.end": "membership.change",
  "job.class.interactive": "job.submit",
  "job.class.train": "job.submit",
  "job.class.scavenger": "job.submit",
  // Permitted to no person: a set that does not know the question gives the class to nobody.
  "job.class.system": "appliance.maintain",
  "schedule.list": "job.list",
  "schedule.create": "job.submit",
  "schedule.change": "job.cancel",
  "service-account.adopt": "service-account.create",
  "administrator.acknowledge": "policy.propose",
  // Permitted to no person: a set that does not know the question gives nobody's data out.
  "person.data": "user.disable",
  "models.guard": "exports.guard",
  "hold.set": "erasure.request",
  "lift.request": "erasure.request",
  "lift.decide": "erasure.decide",
  "disclosure.request": "erasure.request",
  "disclosure.decide": "erasure.decide",
  "share.list": "appliance.status",
  "share.read": "project.list",
  "share.request": "policy.propose",
  "share.lower": "policy.change",
  "share.decide": "policy.decide",
  "share.set": "appliance.maintain",
  "pool.list": "appliance.status",
  "pool.read": "project.list",
  "pool.set": "appliance.maintain",
  "calendar.set": "appliance.maintain",
};

/** The attributes of a row that tell whose it is; a row that has more is one as well. */
export type ResourceOf<A extends Action> = {
  [name in keyof (typeof RESOURCES)[(typeof ACTIONS)[A]]["attributes"]]: string;
};
