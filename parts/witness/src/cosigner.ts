/** The witness's own keys: one Ed25519, and one ML-DSA-44 where the runtime has it. Each is a witness of its own to a policy. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import {
  KEY_TYPE,
  type KeyType,
  type NoteSigner,
  noteSigner,
  verifierKey,
} from "@resontech/audit/format/note/note-key";
import { WitnessError } from "./errors.ts";

const KINDS = [
  { file: "ed25519.pem", type: KEY_TYPE.ed25519Cosignature, suffix: "" },
  { file: "ml-dsa-44.pem", type: KEY_TYPE.mlDsa44, suffix: "-pq" },
] as const;

/** Node before 24 lacks it. */
export const hasMlDsa44 = (() => {
  try {
    generateKeyPairSync("ml-dsa-44");
    return true;
  } catch {
    return false;
  }
})();

/** Whether this runtime can check and make signatures of the type. */
export function isSupported(type: KeyType): boolean {
  return type !== KEY_TYPE.mlDsa44 || hasMlDsa44;
}

/** Makes the folder and its keys. What a run that broke off left is made anew: nobody was told of it. @throws WitnessError */
export async function makeCosigner(dir: string, name: string): Promise<NoteSigner[]> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (await exists(join(dir, "name")))
    throw new WitnessError("already_made", `${dir} holds a witness already`);
  const made: NoteSigner[] = [];
  for (const { file, type } of KINDS.filter((kind) => isSupported(kind.type))) {
    const privateKey =
      type === KEY_TYPE.mlDsa44
        ? generateKeyPairSync("ml-dsa-44").privateKey
        : generateKeyPairSync("ed25519").privateKey;
    made.push(noteSigner(name, type, privateKey));
    await replaceFile(join(dir, file), privateKey.export({ format: "pem", type: "pkcs8" }), 0o400);
  }
  await replaceFile(join(dir, "name"), `${name}\n`, 0o400);
  return made;
}

/** @throws WitnessError when there is none, or a key is open to others */
export async function loadCosigner(dir: string): Promise<NoteSigner[]> {
  const name = await readFile(join(dir, "name"), "utf8").catch(() => {
    throw new WitnessError("not_made", `${dir} holds no witness; one is made by \`witness init\``);
  });
  const signers: NoteSigner[] = [];
  for (const { file, type } of KINDS) {
    const key = isSupported(type) ? await readKey(join(dir, file), type) : null;
    if (key !== null) signers.push(noteSigner(name.trimEnd(), type, key));
  }
  return signers;
}

/** The lines that a policy has for this witness; with two keys there is a group of both. */
export function policyLines(signers: readonly NoteSigner[], label = "w1"): string[] {
  const witnesses = signers.map((signer) => {
    const suffix = KINDS.find(({ type }) => type === signer.type)?.suffix ?? "";
    return { name: `${label}${suffix}`, line: `witness ${label}${suffix} ${verifierKey(signer)}` };
  });
  const group = `group ${label}-both all ${witnesses.map(({ name }) => name).join(" ")}`;
  return [...witnesses.map(({ line }) => line), ...(witnesses.length > 1 ? [group] : [])];
}

/** Reads a key; null for a kind that the witness was made without, on a runtime that lacked it. */
async function readKey(path: string, type: KeyType): Promise<KeyObject | null> {
  if (type === KEY_TYPE.mlDsa44 && !(await exists(path))) return null;
  if (((await stat(path)).mode & 0o077) !== 0)
    throw new WitnessError("key_open", `${path} is open to others: its mode must be 0400`);
  return createPrivateKey(await readFile(path));
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
