/** What a declared part needs to start: its folders, certificates and configuration. Each step keeps what is there. */
import type { PartDeclaration } from "@resontech/frame/define-part";
import { processConfigOf } from "@resontech/frame/process-config";
import type { CertificateAuthority } from "../ca/certificate-authority.ts";
import { ensureFolder, readableBy, writeOwned } from "../config/owned-file.ts";
import type { PartContext } from "../parts/context.ts";

export function makePartFolders({ config, layout }: PartContext, part: PartDeclaration): void {
  const id = config.uidBase + part.user;
  ensureFolder(layout.secrets(part.name), readableBy(id), 0o750);
  ensureFolder(layout.partData(part.name), { uid: id, gid: id }, 0o700);
}

export async function makePartCertificates(
  { config, layout }: PartContext,
  part: PartDeclaration,
  ca: CertificateAuthority,
): Promise<void> {
  const owner = readableBy(config.uidBase + part.user);
  for (const { name, dnsNames } of part.certificates)
    if (dnsNames.length === 0) await ca.ensureClient(layout.secrets(part.name), owner, name);
    else await ca.ensureServer(layout.secrets(part.name), owner, name, [...dnsNames]);
}

export function writePartConfig({ config, layout }: PartContext, part: PartDeclaration): void {
  writeOwned(
    layout.processConfig(part.name),
    `${JSON.stringify(processConfigOf(part, { layout, appliance: config }), null, 2)}\n`,
    readableBy(config.uidBase + part.user),
    0o440,
  );
}
