/** auditd: the one writer of the audit log. What is done waits until it is on record. */
import { AUDIT_KEYS_FILE, auditKeysIn, logKeysOf } from "@resontech/contracts/audit-keys";
import { AuditdConfig } from "@resontech/contracts/auditd-config";
import { LOG_SEGMENT_BYTES, RESERVE_STEP_BYTES, reserveOf } from "@resontech/contracts/log-reserve";
import {
  defineFrameless,
  type FramelessPart,
  type PartDeclaration,
  type PartFacts,
  type Peer,
} from "@resontech/frame/define-part";
import { logFindings } from "./src/findings.ts";

const NAME = "auditd";
const FOLDER = "audit";
const CONTROL = "control";
/** The day on which the log begins; a later start must find that log. */
const INCEPTION_FILE = "audit-inception";
/** Bytes that the log holds back. With a fuller disk the reserve must not shrink. */
export const RESERVE_FILE = "audit-reserve";
/** A cold start of audit-out on a busy host; one that runs answers within a second. */
const LEARN_MS = 15_000;

/** @property peer whose processes may open its socket */
export type Producer = { name: string; family: string; peer: Peer; isOccasional: boolean };

/** Of root's: the supervisor, and `appliance` while a command runs. */
const ROOTS: readonly Producer[] = [
  { name: "supervisor", family: "supervisor", peer: "root", isOccasional: false },
  { name: "appliance", family: "appliance", peer: "root", isOccasional: true },
];

/** Whoever writes into the log. */
export function producersOf(parts: readonly PartDeclaration[]): Producer[] {
  return [
    ...ROOTS,
    ...parts.flatMap(({ name: peer, audit = [] }) =>
      audit.map(({ producer: name, family }) => ({ name, family, peer, isOccasional: false })),
    ),
  ];
}

/** Of a reserve that was settled; null for anything else. */
export function reserveIn(text: string | null): number | null {
  const bytes = text === null ? Number.NaN : Number(text);
  return Number.isSafeInteger(bytes) && bytes >= RESERVE_STEP_BYTES ? bytes : null;
}

function keysOf({ layout, read }: PartFacts): ReturnType<typeof auditKeysIn> {
  return auditKeysIn(read(layout.setting(AUDIT_KEYS_FILE)));
}

function policyFileOf({ layout }: PartFacts): string {
  return layout.data(FOLDER, "audit.policy");
}

/** @param others parts of the appliance: each that writes into the log has a socket here */
export function auditdFor(others: readonly PartDeclaration[]): FramelessPart<typeof AuditdConfig> {
  const producers = producersOf(others);
  return defineFrameless({
    name: NAME,
    user: 2,
    program: "auditd.mjs",
    after: [],
    ownConfig: {
      schema: AuditdConfig,
      from: (facts) => {
        const { layout, appliance, read, secret, socket } = facts;
        return {
          originPrefix: `${appliance.appliance}.audit.${appliance.customer}`,
          inception: read(layout.setting(INCEPTION_FILE)) ?? "",
          auditDir: layout.data(FOLDER),
          keysDir: secret(NAME, ""),
          policyFile: policyFileOf(facts),
          stepUpKeysFile: layout.stepUpKeysFile,
          ...logKeysOf(keysOf(facts) ?? {}),
          producers: producers.map(({ name, family, isOccasional }) => ({
            ...{ name, family, occasional: isOccasional, socket: socket(NAME, name), gid: null },
          })),
          nodeRelay: { producer: "coordinator-gate", rootCertFile: layout.rootCert },
          controlSocket: socket(NAME, CONTROL),
          clockSyncedFile: "/run/systemd/timesync/synchronized",
          learnMs: LEARN_MS,
          unwitnessed: appliance.unwitnessed ?? "mark",
          segmentBytes: LOG_SEGMENT_BYTES,
          ballastBytes: reserveIn(read(layout.setting(RESERVE_FILE))) ?? RESERVE_STEP_BYTES,
          ballastStepBytes: RESERVE_STEP_BYTES,
          checkpointMs: 500,
          heartbeatMs: 60_000,
          logLevel: "info",
        };
      },
    },
    sockets: {
      ...Object.fromEntries(
        producers.map(({ name, peer }) => [
          name,
          { for: peer, speaks: "frames of events", at: [FOLDER, name, "sock"] as const },
        ]),
      ),
      [CONTROL]: { for: "root", speaks: "questions over HTTP", at: [FOLDER, CONTROL, "sock"] },
    },
    // The log's key is made by auditd alone: not even the supervisor sees it.
    keepsSecrets: true,
    certificates: [],
    health: { endsConnections: producers.map(({ name }) => name) },
    settings: [],
    choices: ["unwitnessed"],
    settled: [
      { file: INCEPTION_FILE, settle: ({ now }) => now().toISOString().slice(0, 10) },
      {
        file: RESERVE_FILE,
        holds: (text) => reserveIn(text) !== null,
        settle: ({ appliance, layout, room, sizeOf }) => {
          const { totalBytes, freeBytes } = room(layout.data(FOLDER));
          // Of an appliance that a release without this file installed: what it holds back was free.
          const heldBytes = sizeOf(layout.data(FOLDER, "ballast"));
          const wanted = { totalBytes, freeBytes: freeBytes + heldBytes };
          return `${reserveOf(appliance.keyKind, wanted)}\n`;
        },
      },
    ],
    data: {
      isBackedUp: "apart",
      // Set-group-id: what auditd makes in it, its readers may read.
      folders: [{ name: FOLDER, readers: "audit-out", mode: 0o2750 }],
    },
    firstBytes: 64 * 1024 ** 2,
    // The ceremony that makes key, policy and empty log; a log that is there stays.
    start: {
      after: (facts) => [
        {
          args: ["init", "--config", facts.layout.processConfig(NAME)],
          unless: policyFileOf(facts),
        },
      ],
    },
    findings: { log: logFindings },
    stop: { graceMs: 15_000 },
    inShortage: "last",
    loads: ["app/node_modules/pkcs11js/"],
    env: (facts) => keysOf(facts)?.environment ?? {},
  });
}
