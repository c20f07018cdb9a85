/**
 * Makes what the parts need to start: folders, certificates, secrets and one configuration file for each process. Every step keeps what is
 * there, so it runs before each start of the supervisor: that renews certificates and follows a switched release.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { agent } from "@resontech/agent/part";
import { type PartDeclaration, secretOf, userOf } from "@resontech/frame/define-part";
import { partNamed } from "@resontech/frame/part-facts";
import { CertificateAuthority } from "../ca/certificate-authority.ts";
import { writeTrust } from "../ca/door-certificate.ts";
import { ensureFolder, readableBy, ROOT, writeOwned } from "../config/owned-file.ts";
import { KEYCLOAK_CLIENT } from "@resontech/keycloak/part";
import type { PartContext } from "../parts/context.ts";
import { followNameInAgent } from "./follow-name.ts";
import { makeSecret } from "./make-secret.ts";
import {
  copyPartSecrets,
  isDialled,
  isToldOfRenewal,
  makePartCertificates,
  makePartFolders,
  makePartSecrets,
  writePartConfig,
} from "./prepare-part.ts";

export async function prepare(context: PartContext): Promise<void> {
  makeFolders(context);
  await makeCertificates(context, new CertificateAuthority(context.layout.caDir));
  makeSecrets(context);
  for (const part of context.parts) writePartConfig(context, part);
  if (context.config.agent !== null) writeAgentConfig(context);
}

function makeFolders(context: PartContext): void {
  const { config, layout, parts } = context;
  // Named one by one: under the supervisor's umask a parent made along the way would be closed to the processes.
  for (const folder of [layout.etc, layout.data(), layout.run(".."), layout.run()])
    ensureFolder(folder, ROOT, 0o755);
  const coordinator = readableBy(userOf(config, partNamed(parts, "coordinator")));
  ensureFolder(layout.run("facts"), coordinator, 0o750);
  ensureFolder(layout.log(""), ROOT, 0o750);
  ensureFolder(layout.secrets(""), ROOT, 0o755);
  for (const part of parts) makePartFolders(context, part);
  ensureFolder(layout.secrets("appliance"), ROOT, 0o700);
  ensureFolder(layout.directoryCa(), ROOT, 0o755);
  ensureFolder(layout.data("supervisor"), ROOT, 0o700);
}

/** Every certificate of the appliance's own authority with a new key, in place; those that run read theirs at their next start. */
export async function renewCertificates(context: PartContext): Promise<void> {
  const ca = new CertificateAuthority(context.layout.caDir, () => new Date(), true);
  await makeCertificates(context, ca);
}

/** What of them is due, missing or another's. */
async function makeCertificates(context: PartContext, ca: CertificateAuthority): Promise<void> {
  const { config, layout, parts } = context;
  await ca.ensureRoot(config.appliance);
  writeTrust(layout);
  for (const part of parts) await makePartCertificates(context, part, ca);
  await ca.ensureClient(layout.secrets("appliance"), ROOT, KEYCLOAK_CLIENT);
  // An older release gave the coordinator a certificate of the appliance's name.
  for (const name of ["server.crt", "server.key"])
    rmSync(layout.secrets("coordinator", name), { force: true });
}

/** Renews in place what is due of those that people's programs and nodes dial, and that see by themselves that another certificate lies there. */
export async function renewLiveDoors(context: PartContext): Promise<void> {
  writeTrust(context.layout);
  const ca = new CertificateAuthority(context.layout.caDir);
  for (const part of context.parts)
    if (isDialled(part) && !isToldOfRenewal(part)) await renewServed(context, part, ca);
}

/** What it shows to whoever dials it. Others it reads at its start alone. */
async function renewServed(
  context: PartContext,
  part: PartDeclaration,
  ca: CertificateAuthority,
): Promise<void> {
  const certificates = part.certificates.filter(({ name }) => name === "server");
  await makePartCertificates(context, { ...part, certificates }, ca);
}

/** Renews in place what is due of the others. @returns whose certificate is another now: these must be told, by this signal */
export async function renewToldDoors(
  context: PartContext,
): Promise<{ part: string; signal: NodeJS.Signals }[]> {
  const { layout, parts } = context;
  const ca = new CertificateAuthority(layout.caDir);
  const told: { part: string; signal: NodeJS.Signals }[] = [];
  for (const part of parts) {
    if (!isToldOfRenewal(part) || part.certificateChange === undefined) continue;
    const shown = (): string => readFileSync(secretOf(part, layout, "server.crt"), "utf8");
    const before = shown();
    await renewServed(context, part, ca);
    if (shown() !== before) told.push({ part: part.name, signal: part.certificateChange.signal });
  }
  return told;
}

function makeSecrets(context: PartContext): void {
  const { layout, parts } = context;
  for (const part of parts) makePartSecrets(context, part);
  for (const part of parts) copyPartSecrets(context, part);
  const adminKey = layout.secrets("appliance", "keycloak-admin.key");
  if (!existsSync(adminKey)) writeOwned(adminKey, makeSecret("p256"), ROOT, 0o400);
}

/** Written again once the join token is there: it names the token's file while there is one. */
export function writeAgentConfig(context: PartContext): void {
  followNameInAgent(context.layout, context.config);
  writePartConfig(context, agent);
}
