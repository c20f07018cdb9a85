/** `appliance certificates show | use | rotate`: whose certificate the doors show, and how long each holds. */
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { EventDetail } from "@resontech/contracts/audit-catalogue";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator, operated } from "../audit/operator-record.ts";
import { type DoorCertificate, evaluateCertificate } from "../ca/decisions/evaluate-certificate.ts";
import {
  customersCertificate,
  giveUpCustomers,
  hasCustomersCertificate,
  keepNext,
  putInForce,
} from "../ca/door-certificate.ts";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import { renewCertificates } from "../first-boot/prepare.ts";
import type { PartContext } from "../parts/context.ts";
import { askSupervisor, listParts } from "../supervisor/control.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { awaitTrust } from "./await-trust.ts";
import { readCertificates } from "../status/read-certificates.ts";

/** @property restart of everything, while jobs go on @property tell a line on standard error */
type Around = { restart: () => Promise<void>; tell: (line: string) => void };
type UseOptions = {
  cert?: string;
  key?: string;
  ca?: string;
  own: boolean;
  checkOnly: boolean;
  force: boolean;
};
/** A file of certificates, or of a key, is a few kilobytes. */
const MAX_PEM_CHARS = 262_144;

export function addCertificateCommands(
  program: Command,
  shell: OperatorShell,
  around: Around,
): void {
  const { openContext, print, table, say } = shell;
  const certificates = program
    .command("certificates")
    .description("every certificate with its days; the customer's own in the doors");

  leaves(certificates.command("show", { isDefault: true }), { none: "status" })
    .description("every certificate of the appliance and the days that each still holds")
    .option("--json", "one JSON line", false)
    .action(({ json }: { json: boolean }) => {
      const { layout } = openContext();
      const all = readCertificates(layout, Date.now()).toSorted((a, b) => a.daysLeft - b.daysLeft);
      if (json) return print(all);
      table(
        ["CERTIFICATE", "DAYS LEFT"],
        all.map(({ file, daysLeft }) => [
          relative(layout.root, file),
          String(Math.floor(daysLeft)),
        ]),
        "no certificate",
      );
      say(`the doors show ${ofWhom(layout)}`);
    });

  leaves(certificates.command("use"), { event: "admin.certificates" })
    .description(
      "let ports 8000, 3900 and 5000 show a certificate of yours; nodes trust its authority first, and jobs go on",
    )
    .option("--cert <file>", "the certificate and what stands between it and the authority, in PEM")
    .option("--key <file>", "its key in PEM, without a password")
    .option("--ca <file>", "the authority that clients trust, in PEM")
    .option("--own", "show the appliance's own certificate again", false)
    .option("--check-only", "judge the files, and change nothing", false)
    .option("--force", "go on although nodes do not trust the authority yet", false)
    .addHelpText(
      "after",
      "\nExamples:\n  appliance certificates use --cert /root/gpu.crt --key /root/gpu.key --ca /root/hospital-ca.crt\n  appliance certificates use --own",
    )
    .action(async (options: UseOptions) => {
      const context = openContext();
      if (options.own) return await useOwn(context, shell, around);
      const certificate = judged(context, options);
      const ends = new Date(certificate.endsAt).toISOString().slice(0, 10);
      say(`the certificate is good for ${context.config.name} until ${ends}`);
      if (options.checkOnly) return;
      await use(context, certificate, { shell, around, isForced: options.force });
    });

  leaves(certificates.command("rotate"), { event: "admin.certificates" })
    .description(
      "make every certificate of the appliance's own authority anew, with new keys; the authority itself stays, and jobs go on",
    )
    .action(async () => {
      const context = openContext();
      await recorded(context, { change: "rotated" }, async () => {
        await renewCertificates(context);
      });
      await inForce(context, shell, around);
    });
}

async function use(
  context: PartContext,
  certificate: DoorCertificate,
  { shell, around, isForced }: { shell: OperatorShell; around: Around; isForced: boolean },
): Promise<void> {
  const { certSha256, caSha256 } = certificate;
  const detail = { change: "used", cert_sha256: certSha256, ca_sha256: caSha256 } as const;
  await recorded(context, detail, async () => {
    keepNext(context.layout, certificate);
    if (await isRunning(context)) {
      const trust = readFileSync(context.layout.trustCert, "utf8");
      await awaitTrust(shell.ask, trust, { tell: around.tell, isForced });
    }
    putInForce(context.layout);
  });
  await inForce(context, shell, around);
}

async function useOwn(context: PartContext, shell: OperatorShell, around: Around): Promise<void> {
  if (!hasCustomersCertificate(context.layout))
    throw new InvalidArgumentError("--own: the doors show the appliance's own certificate already");
  await recorded(context, { change: "own" }, async () => giveUpCustomers(context.layout));
  await inForce(context, shell, around);
}

/** Parts read their certificates when they start. */
async function inForce(
  context: PartContext,
  { say }: OperatorShell,
  around: Around,
): Promise<void> {
  if (!(await isRunning(context))) return say("in force from the next start on: appliance start");
  await around.restart();
  say(`in force: the doors show ${ofWhom(context.layout)}`);
}

function judged({ config }: PartContext, { cert, key, ca }: UseOptions): DoorCertificate {
  if (cert === undefined || key === undefined || ca === undefined)
    throw new InvalidArgumentError("--cert, --key and --ca are all needed, or --own");
  const brought = {
    cert: readPem("--cert", cert),
    key: readPem("--key", key),
    ca: readPem("--ca", ca),
  };
  return evaluateCertificate(brought, config.name, Date.now());
}

function readPem(option: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new InvalidArgumentError(
      `${option}: ${file} can't be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  if (text.length > MAX_PEM_CHARS)
    throw new InvalidArgumentError(`${option}: ${file} is too large for certificates or a key`);
  return text;
}

async function isRunning({ layout }: PartContext): Promise<boolean> {
  return (await askSupervisor(layout.supervisorSocket, listParts, {})) !== null;
}

function ofWhom(layout: PartContext["layout"]): string {
  if (customersCertificate(layout) !== null) return "the customer's certificate";
  return hasCustomersCertificate(layout)
    ? "the appliance's own certificate: the customer's has expired"
    : "the appliance's own certificate";
}

/** One change at a time: two would put the certificate of one beside the key of the other. @throws AlreadyRunningError */
async function recorded(
  context: PartContext,
  detail: EventDetail<"admin.certificates">,
  effect: () => Promise<void>,
): Promise<void> {
  const { layout } = context;
  using _lock = takeExclusiveLock(
    layout.run("certificates.lock"),
    "another change of certificates",
    [layout.release("engines", "rt-lock")],
  );
  await using producer = await connectOperator(layout);
  const operation = {
    type: "admin.certificates",
    action: "appliance certificates",
    object: { kind: "appliance", id: "appliance" },
    detail,
  } as const;
  await operated(producer, [operation], async () => ({ result: await effect() }));
}
