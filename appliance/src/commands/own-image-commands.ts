/** `appliance image digest|add|ls|rm|trust|keys|distrust`: images of the customer's own, which deployments run by their name. */
import { EXIT } from "@resontech/contracts/exit-codes";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { AskedAdmission, ImageFacts } from "@resontech/contracts/operator-images";
import { ImageDigest, ImageName, imageStatement } from "@resontech/contracts/own-image";
import { type Command, InvalidArgumentError } from "commander";
import { Value } from "typebox/value";
import { leaves } from "../audit/command-audit.ts";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import { admitImage, dismissImage, type ImageStore } from "../images/admit-image.ts";
import { ImageArchive } from "../images/image-archive.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatInstant, formatSize } from "../status/decisions/quantities.ts";

const HEAD = ["IMAGE", "DIGEST", "SIZE", "BY", "SINCE", "DEPLOYMENTS"];
const KEY_HEAD = ["KEY (SHA-256)", "SINCE"];
const MAX_SIGNATURE_BYTES = 768;
const MAX_KEY_BYTES = 4_096;

type AddOptions = {
  name?: string;
  digest?: string;
  signature?: string;
  approval?: string;
  json: boolean;
};

/** A file that a command was given is none of its kind. */
class FileInvalidError extends Error {
  override readonly name = "FileInvalidError";
  readonly code = "file_invalid";
  readonly hint = "Look at the file's name: the command reads short files of this kind alone.";
}

export function addOwnImageCommands(
  image: Command,
  { openContext, ask, print, table, say }: OperatorShell,
): void {
  /** One at a time: another would sweep away what this one has not yet named. */
  const openStore = (): ImageStore & Disposable => {
    const { layout } = openContext();
    const lock = takeExclusiveLock(layout.run("images.lock"), "another `appliance image`", [
      layout.release("engines", "rt-lock"),
    ]);
    // What is put there belongs to root, and the registry reads it.
    process.umask(0o022);
    const storageDir = layout.data("registry");
    return { ask, storageDir, [Symbol.dispose]: () => lock[Symbol.dispose]() };
  };

  leaves(image.command("digest <file>"), {
    none: "a file is read, and nothing of the appliance is",
  })
    .description("the digest of an image in an OCI archive; compare it with its maker's")
    .option("--statement", "what is to be signed of it instead, byte for byte", false)
    .action(async (file: string, { statement }: { statement: boolean }) => {
      using archive = new ImageArchive(file);
      await archive.check();
      process.stdout.write(statement ? imageStatement(archive.digest) : `${archive.digest}\n`);
    });

  leaves(image.command("add <file>"), { event: "admin.image.add", loggedBy: "coordinator" })
    .description(
      "admit an image of your own, an OCI archive: by its digest, said from elsewhere, a signature of a trusted key, or two people's word",
    )
    .option("--name <name>", "what deployments call it; the file's own name unless said", imageName)
    .option("--digest <digest>", "sha256:…, as its maker told you by another way", imageDigest)
    .option("--signature <file>", "of `image digest FILE --statement`, raw or base64")
    .option("--approval <request>", "the request that two people agreed to, such as a_7c30…")
    .option("--json", "one JSON line", false)
    .action(async (file: string, options: AddOptions) => {
      const name = options.name ?? nameOf(image, file);
      const admission = admissionOf(image, options);
      using archive = new ImageArchive(file);
      using store = openStore();
      const admitted = await admitImage(store, { name, archive, admission });
      if (options.json) print(admitted);
      else say(`${admitted.name}: ${admitted.digest}, ${formatSize(admitted.sizeBytes)}`);
    });

  leaves(image.command("ls"), { none: "status" })
    .description("images of your own, by whose word they came, and which deployments run them")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const { images } = await ask("image-list");
      if (json) print(images);
      else table(HEAD, images.map(row), "no image of your own: appliance image add FILE");
    });

  leaves(image.command("rm <name>"), { event: "admin.image.remove", loggedBy: "coordinator" })
    .description("remove an image of your own; refused while a deployment runs it")
    .action(async (name: string) => {
      using store = openStore();
      say(`removed ${name}: ${await dismissImage(store, name)}`);
    });

  leaves(image.command("trust <file>"), { event: "admin.image.trust", loggedBy: "coordinator" })
    .description("let a key admit images by its signature: its public half in PEM")
    .action(async (file: string) => {
      const pem = shortFile(file, MAX_KEY_BYTES).toString("utf8");
      const { sha256 } = await ask("image-trust", { pem });
      say(`trusted: ${sha256}`);
    });

  leaves(image.command("keys"), { none: "settings, and nothing of people" })
    .description("the keys that admit images")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const { keys } = await ask("image-keys");
      if (json) return print(keys);
      const rows = keys.map(({ sha256, trustedAt }) => [sha256, formatInstant(trustedAt)]);
      table(KEY_HEAD, rows, "no key: appliance image trust FILE");
    });

  leaves(image.command("distrust").argument("<key>", "as `image keys` shows it", keyBegin), {
    event: "admin.image.trust",
    loggedBy: "coordinator",
  })
    .description("let a key admit no more images, by the beginning of its SHA-256")
    .action(async (key: string) => {
      const { sha256 } = await ask("image-distrust", { key });
      say(`trusted no longer: ${sha256}; what it admitted stays`);
    });
}

/** Exactly one way. */
function admissionOf(
  command: Command,
  { digest, signature, approval }: AddOptions,
): AskedAdmission {
  const ways = [digest, signature, approval].filter((way) => way !== undefined);
  if (ways.length !== 1)
    return command.error("one of --digest, --signature and --approval is needed", {
      exitCode: EXIT.usage,
    });
  if (approval !== undefined) return { by: "approval", approval };
  if (digest !== undefined) return { by: "digest", said: digest };
  return { by: "signature", signature: base64Of(shortFile(signature!, MAX_SIGNATURE_BYTES)) };
}

/** Turns a signature into base64: one as `openssl` writes it, or as `cosign` does, which is base64 already. */
function base64Of(bytes: Buffer): string {
  const text = bytes.toString("latin1").replaceAll(/\s/g, "");
  return /^[A-Za-z0-9+/]{40,}={0,2}$/.test(text) ? text : bytes.toString("base64");
}

function shortFile(file: string, maxBytes: number): Buffer {
  const facts = statSync(file);
  if (!facts.isFile() || facts.size === 0 || facts.size > maxBytes)
    throw new FileInvalidError(`${file} is no file of 1 to ${maxBytes} bytes`);
  return readFileSync(file);
}

function imageName(name: string): string {
  if (Value.Check(ImageName, name)) return name;
  throw new InvalidArgumentError("lower-case letters, digits and single hyphens, at most 48");
}

function imageDigest(digest: string): string {
  if (Value.Check(ImageDigest, digest)) return digest;
  throw new InvalidArgumentError("sha256: and 64 digits are meant");
}

function keyBegin(key: string): string {
  if (/^[0-9a-f]{8,64}$/.test(key)) return key;
  throw new InvalidArgumentError("8 to 64 digits of the key's SHA-256 are meant");
}

function nameOf(command: Command, file: string): string {
  const name = basename(file)
    .replace(/\.(?:oci|tar|oci\.tar)$/i, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
  if (Value.Check(ImageName, name)) return name;
  return command.error(`${basename(file)} is no name for an image: use --name`, {
    exitCode: EXIT.usage,
  });
}

function row({ name, digest, sizeBytes, admittedBy, proof, ...rest }: ImageFacts): string[] {
  return [
    ...[name, digest, formatSize(sizeBytes)],
    proof === null ? admittedBy : `${admittedBy} ${proof.slice(0, 16)}`,
    ...[formatInstant(rest.admittedAt), rest.deployments.join(", ") || "-"],
  ];
}
