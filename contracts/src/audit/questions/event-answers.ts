/**
 * Which questions and which controls each type of event answers, or why none. A type without a line here does not compile. Documents and
 * `policies/controls.json` are made from it: `node policies/build/event-answers.ts`.
 */
import type { EventType } from "../audit-catalogue.ts";
import type { Control } from "./controls.ts";
import type { QuestionId } from "./questions.ts";

type Some<T> = readonly [T, ...T[]];
type None = { none: string };
/** `person` where an entry of the type answers nothing but what its actor did. */
export type EventAnswers = { questions: Some<QuestionId> | None; controls: Some<Control> | None };

const controls = <const C extends Some<Control>>(...all: C): C => all;

const REFUSED = controls(
  "hipaa 164.312(a)(1)",
  "hipaa 164.312(d)",
  "hipaa 164.312(b)",
  "soc2 CC6.1",
  "gdpr Article 32",
  "dora Article 9",
);
const SIGN_IN = controls("hipaa 164.312(d)", "soc2 CC6.1", "dora Article 9");
const HOST = controls(
  "hipaa 164.312(a)(1)",
  "hipaa 164.312(a)(2)(i)",
  "soc2 CC6.1",
  "dora Article 9",
);
const LOOKED = controls("hipaa 164.312(b)", "gdpr Article 32");
const ACCOUNTS = controls("hipaa 164.312(a)(2)(i)", "soc2 CC6.2", "dora Article 9");
const ACCOUNTS_CHANGED = controls(
  "hipaa 164.312(a)(2)(i)",
  "soc2 CC6.2",
  "soc2 CC6.3",
  "dora Article 9",
);
const MEMBERS = controls("hipaa 164.312(a)(1)", "soc2 CC6.2", "soc2 CC6.3", "dora Article 9");
const RIGHTS = controls("hipaa 164.312(a)(1)", "soc2 CC6.3", "dora Article 9");
const RIGHTS_TO_DATA = controls(
  "hipaa 164.312(a)(1)",
  "soc2 CC6.3",
  "gdpr Article 15",
  "gdpr Article 32",
);
const BUCKET_RIGHTS = controls("hipaa 164.312(a)(1)", "soc2 CC6.3", "gdpr Article 32");
const KEYS = controls("hipaa 164.312(a)(2)(i)", "soc2 CC6.1", "dora Article 9");
const KEYS_GIVEN = controls("hipaa 164.312(a)(2)(i)", "soc2 CC6.1", "soc2 CC6.2", "dora Article 9");
const KEYS_ENDED = controls(
  "hipaa 164.312(a)(2)(i)",
  "soc2 CC6.1",
  "soc2 CC6.3",
  "gdpr Article 32",
  "dora Article 9",
);
const NODE_KEYS = controls("hipaa 164.312(d)", "soc2 CC6.1", "dora Article 9");
const DETECTED = controls("soc2 CC7.2", "dora Article 10");
const CHANGED = controls("soc2 CC8.1", "dora Article 9");
const POLICY = controls("hipaa 164.312(a)(1)", "soc2 CC6.3", "soc2 CC8.1", "dora Article 9");
const PROCESSING = controls("hipaa 164.312(b)", "gdpr Article 30", "ai-act Article 12");
const PROCESSING_DATA = controls("gdpr Article 30", "soc2 CC6.3");
const JOBS = controls("ai-act Article 12");
const JOBS_WATCHED = controls("ai-act Article 12", "ai-act Article 26");
const JOBS_REFUSED = controls("hipaa 164.312(a)(1)", "ai-act Article 12", "ai-act Article 26");
const OUTPUTS = controls("hipaa 164.312(c)(1)", "gdpr Article 30", "ai-act Article 12");
const MODELS = controls("ai-act Article 12", "soc2 CC8.1");
const CALLS = controls(
  "hipaa 164.312(b)",
  "gdpr Article 30",
  "ai-act Article 12",
  "ai-act Article 26",
);
const DATA_READ = controls("hipaa 164.312(b)", "gdpr Article 15");
const DATA_CHANGED = controls("hipaa 164.312(b)", "hipaa 164.312(c)(1)");
const DATA_REFUSED = controls(
  "hipaa 164.312(a)(1)",
  "hipaa 164.312(b)",
  "soc2 CC6.1",
  "gdpr Article 32",
  "dora Article 9",
  "ai-act Article 26",
);
const ERASED = controls("gdpr Article 17");
const DISCLOSED = controls("gdpr Article 15", "hipaa 164.312(b)");
const DISCLOSED_SYSTEM = controls("soc2 CC7.2");
const RETAINED = controls("gdpr Article 17", "gdpr Article 32");
const BACKED_UP = controls("gdpr Article 32", "soc2 CC8.1");
const MEASURED = controls("hipaa 164.312(c)(1)", "soc2 CC8.1");
const COMMAND_REFUSED = controls("hipaa 164.312(a)(1)", "soc2 CC6.1", "dora Article 10");
const EXPORTED = controls(
  "hipaa 164.308(a)(1)(ii)(D)",
  "dora Delegated Regulation (EU) 2024/1774, Article 12",
);
const LOG_READ = controls("hipaa 164.308(a)(1)(ii)(D)", "ai-act Article 26");
const LOGGING = controls("dora Delegated Regulation (EU) 2024/1774, Article 12");
const LOG_HURT = controls(
  "hipaa 164.312(c)(1)",
  "dora Delegated Regulation (EU) 2024/1774, Article 12",
);
const LOG_WATCHED = controls(
  "soc2 CC7.2",
  "dora Article 10",
  "dora Delegated Regulation (EU) 2024/1774, Article 12",
);
const LOG_KEPT = controls(
  "ai-act Article 19",
  "dora Delegated Regulation (EU) 2024/1774, Article 12",
);
const LOG_POLICY = controls("soc2 CC8.1", "dora Delegated Regulation (EU) 2024/1774, Article 12");
const HEARTBEAT = controls(
  "hipaa 164.312(b)",
  "ai-act Article 19",
  "dora Delegated Regulation (EU) 2024/1774, Article 12",
);

export const EVENT_ANSWERS: Readonly<Record<EventType, EventAnswers>> = {
  "auth.failure": { questions: ["refused"], controls: REFUSED },
  "auth.refused": { questions: ["refused"], controls: REFUSED },
  "auth.session.begin": { questions: ["person"], controls: SIGN_IN },
  "auth.session.end": { questions: ["person"], controls: SIGN_IN },
  "auth.session.list": { questions: ["person"], controls: LOOKED },
  "auth.session.refused": { questions: ["refused"], controls: REFUSED },
  "auth.service-account.use": { questions: ["person"], controls: SIGN_IN },
  "auth.idp.sign-in": { questions: ["person"], controls: SIGN_IN },
  "auth.idp.failure": { questions: ["refused"], controls: REFUSED },
  "auth.idp.account": { questions: ["person", "rights"], controls: ACCOUNTS },
  "auth.idp.admin": { questions: ["administrators", "rights"], controls: RIGHTS },
  "auth.idp.drift": { questions: ["administrators"], controls: DETECTED },
  "auth.idp.keys": { questions: ["administrators"], controls: KEYS },
  "auth.host.login": { questions: ["administrators"], controls: HOST },
  "auth.host.logout": { questions: ["administrators"], controls: HOST },
  "iam.user.create": { questions: ["rights", "administrators"], controls: ACCOUNTS },
  "iam.user.change": { questions: ["rights", "administrators"], controls: ACCOUNTS_CHANGED },
  "iam.user.left": { questions: ["rights"], controls: ACCOUNTS_CHANGED },
  "iam.group.map": { questions: ["rights", "administrators"], controls: RIGHTS },
  "iam.role.request": { questions: ["rights"], controls: RIGHTS },
  "iam.role.withheld": { questions: ["rights"], controls: RIGHTS },
  "iam.node.change": { questions: ["administrators"], controls: CHANGED },
  "iam.role.change": { questions: ["rights", "administrators"], controls: RIGHTS },
  "iam.role.acknowledge": { questions: ["rights", "administrators"], controls: RIGHTS },
  "iam.people.read": { questions: ["administrators"], controls: LOOKED },
  "iam.access.review": { questions: ["administrators"], controls: LOOKED },
  "iam.project.change": { questions: ["rights", "administrators"], controls: RIGHTS },
  "iam.project.member": { questions: ["rights"], controls: MEMBERS },
  "iam.project.members": { questions: ["person"], controls: LOOKED },
  "iam.service-account.create": { questions: ["rights"], controls: MEMBERS },
  "iam.service-account.revoke": { questions: ["rights"], controls: RIGHTS },
  "iam.service-account.adopt": { questions: ["rights"], controls: MEMBERS },
  "iam.service-account.orphan": { questions: ["rights"], controls: RIGHTS },
  "iam.service-account.end": { questions: ["rights"], controls: RIGHTS },
  "iam.service-account.list": { questions: ["person"], controls: LOOKED },
  "iam.approval.request": { questions: ["rights", "administrators"], controls: RIGHTS },
  "iam.approval.answer": { questions: ["rights", "administrators"], controls: RIGHTS },
  "iam.approval.sign": { questions: ["rights"], controls: RIGHTS },
  "iam.approval.expire": { questions: ["rights"], controls: RIGHTS },
  "iam.project.create": { questions: ["rights", "administrators"], controls: MEMBERS },
  "iam.node.join-token": { questions: ["administrators"], controls: KEYS },
  "iam.node.join": { questions: ["administrators"], controls: NODE_KEYS },
  "iam.node.renew": { questions: ["administrators"], controls: NODE_KEYS },
  "iam.node.register": { questions: ["administrators"], controls: NODE_KEYS },
  "iam.node.lost": { questions: ["administrators"], controls: DETECTED },

  "job.submit": { questions: ["job"], controls: PROCESSING },
  "job.schedule": { questions: ["job"], controls: JOBS },
  "job.schedule.skip": { questions: ["job"], controls: JOBS },
  "job.cancel": { questions: ["job"], controls: JOBS },
  "job.accepted": { questions: ["job"], controls: JOBS },
  "job.queued": { questions: ["job"], controls: JOBS },
  "job.placed": { questions: ["job"], controls: JOBS },
  "job.provisioning": { questions: ["job"], controls: JOBS },
  "job.staging": { questions: ["job"], controls: JOBS },
  "job.started": { questions: ["job"], controls: JOBS },
  "job.preempting": { questions: ["job"], controls: JOBS },
  "job.gang.preempting": { questions: ["job"], controls: JOBS },
  "job.recovering": { questions: ["job"], controls: JOBS },
  "job.finalizing": { questions: ["job"], controls: JOBS },
  "job.held": { questions: ["job"], controls: JOBS_WATCHED },
  "job.stopping": { questions: ["job"], controls: JOBS_WATCHED },
  "job.finished": { questions: ["job"], controls: JOBS },
  "job.failed": { questions: ["job"], controls: JOBS },
  "job.cancelled": { questions: ["job"], controls: JOBS },
  "job.expired": { questions: ["job"], controls: JOBS },
  "job.rejected": { questions: ["job", "refused"], controls: JOBS_REFUSED },
  "job.member": { questions: ["job"], controls: JOBS },
  "job.node.image": { questions: ["job"], controls: JOBS },
  "job.node.staged": { questions: ["job"], controls: JOBS },
  "job.node.started": { questions: ["job"], controls: JOBS },
  "job.node.ended": { questions: ["job"], controls: JOBS },
  "job.node.failed": { questions: ["job"], controls: JOBS },
  "job.node.released": { questions: ["job"], controls: JOBS },
  "job.node.lease-lost": { questions: ["job"], controls: DETECTED },

  "key.mint": { questions: ["rights"], controls: KEYS },
  "key.bootstrap": { questions: ["rights", "administrators"], controls: KEYS_GIVEN },
  "key.renew": { questions: ["rights"], controls: KEYS },
  "key.revoke": { questions: ["rights"], controls: KEYS_ENDED },
  "key.list": { questions: ["person"], controls: LOOKED },
  "key.bucket.rotate": { questions: ["rights"], controls: KEYS_ENDED },
  "key.bucket.withdraw": { questions: ["rights"], controls: KEYS_ENDED },
  "key.predict.rotate": { questions: ["rights", "model"], controls: KEYS_ENDED },
  "key.registry.token": { questions: ["administrators"], controls: NODE_KEYS },
  "key.certificate.issue": { questions: ["administrators"], controls: NODE_KEYS },
  "key.store.change": { questions: ["rights"], controls: KEYS_ENDED },

  "data.bucket.create": { questions: ["rights"], controls: PROCESSING_DATA },
  "data.bucket.read": { questions: ["person"], controls: LOOKED },
  "data.versions.collect": { questions: ["person"], controls: DATA_CHANGED },
  "data.bucket.usage": { questions: ["person"], controls: LOOKED },
  "data.bucket.delete": { questions: ["person"], controls: DATA_CHANGED },
  "data.bucket.list": { questions: ["data-read"], controls: DATA_READ },
  "data.bucket.inspect": { questions: ["data-read"], controls: DATA_READ },
  "data.bucket.change": { questions: ["rights"], controls: BUCKET_RIGHTS },
  "data.bucket.refused": { questions: ["refused"], controls: DATA_REFUSED },
  "data.buckets.list": { questions: ["data-read"], controls: DATA_READ },
  "data.upload.init": { questions: ["person"], controls: DATA_CHANGED },
  "data.upload.complete": { questions: ["person"], controls: DATA_CHANGED },
  "data.upload.abort": { questions: ["person"], controls: DATA_CHANGED },
  "data.output.release": { questions: ["left", "rights"], controls: RIGHTS_TO_DATA },
  "data.stage": { questions: ["data-read", "job"], controls: DATA_READ },
  "data.download.issue": { questions: ["data-read", "left"], controls: DATA_READ },
  "data.log.read": { questions: ["data-read", "job", "left"], controls: DATA_READ },
  "data.object.read": { questions: ["data-read", "left"], controls: DATA_READ },
  "data.object.write": { questions: ["person"], controls: DATA_CHANGED },
  "data.object.multipart": { questions: ["person"], controls: DATA_CHANGED },
  "data.object.delete": { questions: ["person"], controls: DATA_CHANGED },
  "data.object.delete.listed": { questions: ["person"], controls: DATA_CHANGED },
  "data.object.delete.ended": { questions: ["person"], controls: DATA_CHANGED },
  "data.object.change": { questions: ["rights"], controls: DATA_CHANGED },
  "data.object.refused": { questions: ["refused"], controls: DATA_REFUSED },
  "model.output.open": { questions: ["job"], controls: OUTPUTS },
  "model.output": { questions: ["job"], controls: OUTPUTS },
  "model.node.output": { questions: ["job"], controls: OUTPUTS },
  "model.add": { questions: ["person"], controls: MODELS },
  "model.ready": { questions: ["person"], controls: MODELS },
  "model.remove": { questions: ["person"], controls: MODELS },
  "model.download": { questions: ["data-read", "left"], controls: DATA_READ },
  "model.calls": { questions: ["model", "left"], controls: CALLS },
  "admin.image.add": { questions: ["administrators"], controls: CHANGED },
  "admin.image.remove": { questions: ["administrators"], controls: CHANGED },
  "admin.image.trust": { questions: ["administrators"], controls: CHANGED },

  "privacy.erasure": { questions: ["administrators"], controls: ERASED },
  "privacy.access": { questions: ["person", "left"], controls: DISCLOSED },
  "privacy.refusal": { questions: ["administrators"], controls: ERASED },
  "privacy.hold": { questions: ["administrators"], controls: ERASED },
  "privacy.holds.confirm": { questions: ["administrators"], controls: ERASED },
  "privacy.disclose": { questions: ["left", "administrators"], controls: DISCLOSED },
  "privacy.retention": { questions: ["administrators"], controls: RETAINED },
  "privacy.spool": { questions: ["complete"], controls: LOGGING },
  "privacy.keys.restore": { questions: ["administrators"], controls: RETAINED },

  "admin.coordinator.start": { questions: ["administrators"], controls: CHANGED },
  "admin.install": { questions: ["administrators"], controls: CHANGED },
  "admin.uninstall": { questions: ["administrators"], controls: CHANGED },
  "admin.start": { questions: ["administrators"], controls: CHANGED },
  "admin.stop": { questions: ["administrators"], controls: CHANGED },
  "admin.restart": { questions: ["administrators"], controls: CHANGED },
  "admin.maintenance": { questions: ["administrators"], controls: CHANGED },
  "admin.policy": { questions: ["rights", "administrators"], controls: POLICY },
  "admin.identity": { questions: ["rights", "administrators"], controls: RIGHTS },
  "admin.identity.connection": { questions: ["rights", "administrators"], controls: RIGHTS },
  "admin.monitoring": { questions: ["left", "administrators"], controls: CHANGED },
  "admin.shares": { questions: ["administrators"], controls: CHANGED },
  "admin.pools": { questions: ["administrators"], controls: CHANGED },
  "admin.calendar": { questions: ["administrators"], controls: CHANGED },
  "admin.outbound": { questions: ["left", "administrators"], controls: CHANGED },
  "admin.config": { questions: ["left", "administrators"], controls: CHANGED },
  "admin.rename": { questions: ["administrators"], controls: CHANGED },
  "admin.certificates": { questions: ["administrators"], controls: CHANGED },
  "admin.backup": { questions: ["left", "administrators"], controls: BACKED_UP },
  "admin.support": { questions: ["left", "administrators"], controls: DISCLOSED_SYSTEM },
  "admin.control": { questions: ["administrators"], controls: CHANGED },
  "admin.measured": { questions: ["complete"], controls: MEASURED },
  "admin.refused": { questions: ["refused", "administrators"], controls: COMMAND_REFUSED },
  "admin.clock.step": { questions: ["complete"], controls: DETECTED },

  "audit.export": { questions: ["left", "administrators"], controls: EXPORTED },
  "audit.read": { questions: ["person"], controls: LOG_READ },
  "audit.search": { questions: ["person"], controls: LOG_READ },
  "audit.producer.start": { questions: ["complete"], controls: LOGGING },
  "audit.wal.cut": { questions: ["complete"], controls: LOG_HURT },
  "audit.rejected": { questions: ["complete"], controls: LOG_HURT },
  "audit.lost": { questions: ["complete"], controls: LOG_HURT },
  "audit.disk": { questions: ["complete"], controls: LOG_WATCHED },
  "audit.stop": { questions: ["complete"], controls: LOGGING },
  "audit.clock.vouched": { questions: ["complete", "administrators"], controls: LOGGING },
  "audit.shard.open": { questions: ["complete"], controls: LOG_KEPT },
  "audit.shard.next": { questions: ["complete"], controls: LOG_KEPT },
  "audit.shard.close": { questions: ["complete"], controls: LOG_KEPT },
  "audit.shard.delete": { questions: ["complete"], controls: LOG_KEPT },
  "audit.op.carried": { questions: ["complete"], controls: LOG_KEPT },
  "audit.witness.lag": { questions: ["complete"], controls: LOG_WATCHED },
  "audit.policy": { questions: ["complete", "administrators", "rights"], controls: LOG_POLICY },
  "audit.sink": { questions: ["left", "complete"], controls: LOG_WATCHED },
  "audit.heartbeat": {
    questions: {
      none: "One a minute: the verifier's COMPLETENESS reads them, and a list of them would hide what was lost.",
    },
    controls: HEARTBEAT,
  },
};

/** Types of event that name a question, in the catalogue's order. */
export function typesThatAnswer(question: QuestionId): EventType[] {
  return (Object.keys(EVENT_ANSWERS) as EventType[]).filter((type) => {
    const { questions } = EVENT_ANSWERS[type];
    return !("none" in questions) && questions.includes(question);
  });
}

/** Types of event that bear on a control. */
export function typesThatBearOn(control: Control): EventType[] {
  return (Object.keys(EVENT_ANSWERS) as EventType[]).filter((type) => {
    const { controls: borne } = EVENT_ANSWERS[type];
    return !("none" in borne) && borne.includes(control);
  });
}
