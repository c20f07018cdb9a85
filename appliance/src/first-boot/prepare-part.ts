/** What a declared part needs to start: its folders, certificates, secrets and configuration. Each step keeps what is there. */
import { existsSync, readFileSync } from "node:fs";
import {
  type PartDeclaration,
  type Peer,
  dataFoldersOf,
  secretOf,
  userOf,
} from "@resontech/frame/define-part";
import { partNamed } from "@resontech/frame/part-facts";
import type { CertificateAuthority } from "../ca/certificate-authority.ts";
import { ensureFolder, type Owner, readableBy, ROOT, writeOwned } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";
import { configFilesOf, derivedConfigs } from "../parts/derived-config.ts";
import { writeHostConfig } from "../parts/host-part.ts";
import { jobHostOf } from "../parts/job-host-of.ts";
import { partFactsOf } from "../parts/part-facts-of.ts";
import { isOnHost } from "../parts/parts-on-host.ts";
import { ensureDoorCertificate } from "./door-certificates.ts";
import { makeSecret } from "./make-secret.ts";

export function makePartFolders(context: PartContext, part: PartDeclaration): void {
  const { config, layout } = context;
  const id = userOf(config, part);
  // Root's programs keep none there.
  if (!("hosts" in part)) {
    const secrets = secretOf(part, layout);
    if (part.keepsSecrets === true) ensureFolder(secrets, { uid: id, gid: id }, 0o700);
    else ensureFolder(secrets, readableBy(id), 0o750);
  }
  for (const { name, owner, readers, mode } of dataFoldersOf(part)) {
    const uid = owner === "root" ? ROOT.uid : id;
    ensureFolder(layout.data(name), { uid, gid: groupOf(context, readers) ?? id }, mode);
  }
}

function groupOf({ config, parts }: PartContext, readers: Peer | undefined): number | undefined {
  if (readers === undefined) return undefined;
  if (readers === "root") return ROOT.gid;
  return userOf(config, partNamed(parts, readers));
}

export async function makePartCertificates(
  context: PartContext,
  part: PartDeclaration,
  ca: CertificateAuthority,
): Promise<void> {
  const [folder, owner] = [secretOf(part, context.layout), readerOf(context, part)];
  for (const certificate of part.certificates)
    if ("isDoor" in certificate) await ensureDoorCertificate(context, { folder, owner }, ca);
    else if ("isAuthority" in certificate) await ca.ensureIntermediate(folder, owner);
    else {
      const { name, dnsNames } = certificate;
      const names = typeof dnsNames === "function" ? dnsNames(context.config) : dnsNames;
      if (names.length === 0) await ca.ensureClient(folder, owner, name);
      else await ca.ensureServer(folder, owner, name, [...names]);
    }
}

/** Whoever renews the certificate of such a part has to tell it. */
export function isToldOfRenewal({ certificateChange }: PartDeclaration): boolean {
  return certificateChange?.toldBy === "renewal";
}

/** Whether people's programs or nodes dial it, under the appliance's names. */
export function isDialled({ certificates, certificateChange }: PartDeclaration): boolean {
  return (
    certificateChange !== undefined || certificates.some((certificate) => "isDoor" in certificate)
  );
}

/** What another part has comes after all that are made: {@link copyPartSecrets}. */
export function makePartSecrets(context: PartContext, part: PartDeclaration): void {
  for (const secret of part.secrets ?? []) {
    if (!("kind" in secret) || secret.isWanted?.(partFactsOf(context)) === false) continue;
    const file = secretOf(part, context.layout, secret.name);
    if (!existsSync(file))
      writeOwned(file, makeSecret(secret.kind), readerOf(context, part), 0o440);
  }
}

export function copyPartSecrets(context: PartContext, part: PartDeclaration): void {
  const { layout, parts } = context;
  for (const secret of part.secrets ?? []) {
    if (!("sameAs" in secret)) continue;
    const source = secretOf(partNamed(parts, secret.sameAs.part), layout, secret.sameAs.name);
    const file = secretOf(part, layout, secret.name);
    writeOwned(file, readFileSync(source), readerOf(context, part), 0o440);
  }
}

/** Root writes them, and the part reads. */
function readerOf({ config }: PartContext, part: PartDeclaration): Owner {
  return readableBy(userOf(config, part));
}

/** What it reads: its configuration, or the files of an engine. */
export function writePartConfig(context: PartContext, part: PartDeclaration): void {
  const { layout } = context;
  if ("hosts" in part) {
    const host = jobHostOf(context);
    return isOnHost(part, host) ? writeHostConfig(context, host, part) : undefined;
  }
  const [facts, owner] = [partFactsOf(context), readerOf(context, part)];
  for (const { file, settle, holds = () => true } of part.settled ?? []) {
    const settled = facts.read(layout.setting(file));
    if (settled === null || !holds(settled))
      writeOwned(layout.setting(file), settle(facts), ROOT, 0o444);
  }
  const texts = derivedConfigs(part, facts);
  for (const [at, file] of configFilesOf(part, layout).entries())
    writeOwned(file, texts[at]!, owner, 0o440);
}
