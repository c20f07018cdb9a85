/** What a declared part needs to start: its folders, certificates and configuration. Each step keeps what is there. */
import { type PartDeclaration, secretOf } from "@resontech/frame/define-part";
import { processConfigOf } from "@resontech/frame/process-config";
import type { CertificateAuthority } from "../ca/certificate-authority.ts";
import { ensureFolder, type Owner, readableBy, writeOwned } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";
import { ensureDoorCertificate } from "./door-certificates.ts";

export function makePartFolders({ config, layout }: PartContext, part: PartDeclaration): void {
  const id = config.uidBase + part.user;
  ensureFolder(secretOf(part, layout), readableBy(id), 0o750);
  if (part.data !== null) ensureFolder(layout.partData(part.name), { uid: id, gid: id }, 0o700);
}

export async function makePartCertificates(
  context: PartContext,
  part: PartDeclaration,
  ca: CertificateAuthority,
): Promise<void> {
  const [folder, owner] = [secretOf(part, context.layout), ownerOf(context, part)];
  for (const certificate of part.certificates)
    if ("isDoor" in certificate) await ensureDoorCertificate(context, { folder, owner }, ca);
    else if (certificate.dnsNames.length === 0)
      await ca.ensureClient(folder, owner, certificate.name);
    else await ca.ensureServer(folder, owner, certificate.name, [...certificate.dnsNames]);
}

/** Renews in place what is due of a part that people's programs dial, and that sees by itself that another certificate lies there. */
export async function renewPartDoor(
  context: PartContext,
  part: PartDeclaration,
  ca: CertificateAuthority,
): Promise<void> {
  if (!part.certificates.some((certificate) => "isDoor" in certificate)) return;
  const [folder, owner] = [secretOf(part, context.layout), ownerOf(context, part)];
  await ensureDoorCertificate(context, { folder, owner }, ca);
}

function ownerOf({ config }: PartContext, { user }: PartDeclaration): Owner {
  return readableBy(config.uidBase + user);
}

/** What it reads: its configuration, or the files of an engine. */
export function writePartConfig(context: PartContext, part: PartDeclaration): void {
  const { config, layout } = context;
  const [facts, owner] = [{ layout, appliance: config }, ownerOf(context, part)];
  if ("files" in part)
    for (const { name, text } of part.files)
      writeOwned(secretOf(part, layout, name), text(facts), owner, 0o440);
  else
    writeOwned(
      layout.processConfig(part.name),
      `${JSON.stringify(processConfigOf(part, facts), null, 2)}\n`,
      owner,
      0o440,
    );
}
