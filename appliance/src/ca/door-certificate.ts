/**
 * `etc/door-certificate`, root's alone: the customer's certificate of the three doors (8000, 3900, 5000), its key, and who vouches for it.
 * `next.*` waits until every node trusts its authority; `before.crt` is the authority of the certificate before, which is trusted for another week.
 */
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { syncNow } from "@resontech/frame/durable-file-now";
import { ensureFolder, type Owner, ROOT, writeOwned } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";
import type { DoorCertificate } from "./decisions/evaluate-certificate.ts";

const BEFORE_MS = 7 * 86_400_000;

/** In PEM: what the doors are to show. */
export type InForce = { chain: string; key: string };

/** Reads what the customer brought. Null where there is none, or its life is over: then the appliance's own certificate stands in, which parts and nodes trust. */
export function customersCertificate(layout: Layout, now = Date.now()): InForce | null {
  const [cert, key] = [layout.doorCertificate("door.crt"), layout.doorCertificate("door.key")];
  if (!existsSync(cert) || !existsSync(key)) return null;
  const chain = readFileSync(cert, "utf8");
  return Date.parse(new X509Certificate(chain).validTo) <= now
    ? null
    : { chain, key: readFileSync(key, "utf8") };
}

/** Whether the customer brought one, whatever became of it. */
export function hasCustomersCertificate(layout: Layout): boolean {
  return existsSync(layout.doorCertificate("door.crt"));
}

/** Its authority is trusted from now on; the doors show the certificate only after {@link putInForce}. */
export function keepNext(layout: Layout, { chain, key, ca }: DoorCertificate): void {
  ensureFolder(layout.doorCertificate(), ROOT, 0o700);
  for (const [name, text] of [
    ["next.key", key],
    ["next.crt", chain],
    ["next-ca.crt", ca],
  ] as const)
    writeOwned(layout.doorCertificate(name), text, ROOT, 0o400);
  writeTrust(layout);
}

/** Makes the next certificate the door's. It is safe to repeat from any point: the certificate comes last, and without it there is none. */
export function putInForce(layout: Layout): void {
  const file = (name: string): string => layout.doorCertificate(name);
  if (!existsSync(file("next.crt"))) return;
  rmSync(file("door.crt"), { force: true });
  if (existsSync(file("next.key"))) renameSync(file("next.key"), file("door.key"));
  const [ca, nextCa] = [file("ca.crt"), file("next-ca.crt")];
  if (existsSync(ca) && readFileSync(ca, "utf8") !== readFileSync(nextCa, "utf8"))
    writeOwned(file("before.crt"), readFileSync(ca), ROOT, 0o400);
  writeOwned(ca, readFileSync(nextCa), ROOT, 0o400);
  renameSync(file("next.crt"), file("door.crt"));
  rmSync(nextCa, { force: true });
  syncNow(dirname(ca));
  writeTrust(layout);
}

/** The doors show the appliance's own again. Its authority stays trusted for a week, as that of any certificate before. */
export function giveUpCustomers(layout: Layout): void {
  const file = (name: string): string => layout.doorCertificate(name);
  for (const name of ["next.crt", "next.key", "next-ca.crt", "door.crt", "door.key"])
    rmSync(file(name), { force: true });
  if (existsSync(file("ca.crt")))
    writeOwned(file("before.crt"), readFileSync(file("ca.crt")), ROOT, 0o400);
  rmSync(file("ca.crt"), { force: true });
  writeTrust(layout);
}

/** The root first: whoever dials anything but a door takes that one alone. */
export function writeTrust(layout: Layout, now = Date.now()): void {
  const before = layout.doorCertificate("before.crt");
  if (existsSync(before) && now - statSync(before).mtimeMs > BEFORE_MS) rmSync(before);
  const authorities = ["ca.crt", "next-ca.crt", "before.crt"]
    .map((name) => layout.doorCertificate(name))
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, "utf8"));
  const text = [readFileSync(layout.rootCert, "utf8"), ...new Set(authorities)].map(ended).join("");
  if (!existsSync(layout.trustCert) || readFileSync(layout.trustCert, "utf8") !== text)
    writeOwned(layout.trustCert, text, ROOT, 0o444);
}

/** What the customer's certificate is in a door's own folder; written only where it is another. */
export function showCustomers(folder: string, owner: Owner, { chain, key }: InForce): void {
  const [cert, keyFile] = [`${folder}/server.crt`, `${folder}/server.key`];
  const isThere = (file: string, text: string): boolean =>
    existsSync(file) && readFileSync(file, "utf8") === text;
  if (isThere(cert, chain) && isThere(keyFile, key)) return;
  writeOwned(keyFile, key, owner, 0o440);
  writeOwned(cert, chain, owner, 0o444);
}

function ended(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}
