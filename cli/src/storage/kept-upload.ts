/** An upload under way, kept so that a later try goes on where this one stopped. Its URLs write without a credential, so the file is its owner's. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Settings } from "../settings.ts";

const Kept = Type.Object({
  /** Of the file: another one must not go on. */
  sizeBytes: Type.Integer(),
  changedAtMs: Type.Number(),
  uploadId: Type.String(),
  urls: Type.Array(Type.String()),
  /** Unix milliseconds. */
  goodUntil: Type.Number(),
  /** By part, from the first; null for one that is still to be sent. */
  etags: Type.Array(Type.Union([Type.String(), Type.Null()])),
});
export type KeptUpload = {
  sizeBytes: number;
  changedAtMs: number;
  uploadId: string;
  urls: string[];
  goodUntil: number;
  etags: (string | null)[];
};

/** @param folder of the person's own state */
export function uploadFile(
  folder: string,
  { baseUrl, project }: Pick<Settings, "baseUrl" | "project">,
  key: string,
  file: string,
): string {
  const place = project === null ? baseUrl.origin : `${baseUrl.origin}\0${project}`;
  const name = createHash("sha256")
    .update(`${place}\0${key}\0${resolve(file)}`)
    .digest("hex");
  return join(folder, "uploads", `${name.slice(0, 32)}.json`);
}

/** Reads the upload that is kept; null where there is none to go on with. */
export function readUpload(path: string): KeptUpload | null {
  try {
    const kept: unknown = JSON.parse(readFileSync(path, "utf8"));
    return Value.Check(Kept, kept) && kept.etags.length === kept.urls.length ? kept : null;
  } catch {
    return null;
  }
}

/** Whether it is of this very file, and its URLs are good still. */
export function canGoOn(
  kept: KeptUpload,
  { sizeBytes, changedAtMs }: Pick<KeptUpload, "sizeBytes" | "changedAtMs">,
  now: number,
): boolean {
  return kept.sizeBytes === sizeBytes && kept.changedAtMs === changedAtMs && kept.goodUntil > now;
}

export function writeUpload(path: string, upload: KeptUpload): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, JSON.stringify(upload), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

export function forgetUpload(path: string): void {
  rmSync(path, { force: true });
}
