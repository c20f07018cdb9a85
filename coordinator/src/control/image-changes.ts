/** What the operator changes of own images and of the keys that admit them: each on record before it happens and with its outcome. */
import type {
  ImageFacts,
  OperatorReply,
  OperatorRequest,
} from "@resontech/contracts/operator-control";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { byOperator, type ByOperatorDeps } from "./by-operator.ts";
import { findApproval } from "../approvals/approval-store.ts";
import { requireApprovedImage } from "../images/decisions/approved-image.ts";
import { readImageKey, signerOf } from "../images/decisions/image-signature.ts";
import { distrustImageKey, listImageKeys, trustImageKey } from "../images/image-keys.ts";
import {
  deploymentsOf,
  type OwnImage,
  OwnImageTable,
  putOwnImage,
  removeOwnImage,
} from "../images/own-image-table.ts";

export type ImageChangesDeps = ByOperatorDeps & { read: ReadHandle; now: () => number };

type Request<V extends OperatorRequest["verb"]> = Extract<OperatorRequest, { verb: V }>;
type Reply<V extends OperatorReply["verb"]> = Extract<OperatorReply, { verb: V }>;
const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

export function listImages({ read }: Pick<ImageChangesDeps, "read">): Reply<"image-list"> {
  const table = new OwnImageTable(read);
  return { ok: true, verb: "image-list", images: table.list().map((one) => factsOf(one, read)) };
}

/**
 * The registry has its bytes already; from here on deployments find it by its name. The same image under the same name is admitted anew.
 * @throws ApiError image_exists, image_digest_differs, image_signature_invalid, approval_required
 */
export async function addImage(
  deps: ImageChangesDeps,
  { name, digest, sizeBytes, program, admission }: Request<"image-add">,
): Promise<Reply<"image-add">> {
  const table = new OwnImageTable(deps.read);
  const there = table.find(name);
  if (there !== null && there.digest !== digest)
    throw new ApiError("image_exists", `${name} is ${there.digest} here, not ${digest}`);
  const proof = proofOf(deps, { name, digest }, admission);
  const image: OwnImage = {
    ...{ name, digest, sizeBytes, program, admittedBy: admission.by, proof },
    admittedAt: deps.now(),
  };
  await byOperator(
    deps,
    "admin.image.add",
    APPLIANCE,
    {
      ...{ name, image_sha256: digest.slice("sha256:".length), by: admission.by },
      ...(admission.by === "signature" && proof !== null ? { key_sha256: proof } : {}),
      ...(admission.by === "approval" ? { approval: admission.approval } : {}),
    },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        putOwnImage(db, image);
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "image-add", image: factsOf(image, deps.read) };
}

/** Its bytes are the registry's to forget. @throws ApiError not_found, image_in_use */
export async function removeImage(
  deps: ImageChangesDeps,
  name: string,
): Promise<Reply<"image-remove">> {
  const table = new OwnImageTable(deps.read);
  const image = table.find(name);
  if (image === null) throw new ApiError("not_found", `no image ${name} was admitted`);
  await byOperator(
    deps,
    "admin.image.remove",
    APPLIANCE,
    { name, image_sha256: image.digest.slice("sha256:".length) },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        // Looked at where nothing else is written meanwhile.
        const pinning = deploymentsOf(db, name);
        if (pinning.length > 0)
          throw new ApiError("image_in_use", `${name} is run by ${pinning.slice(0, 5).join(", ")}`);
        removeOwnImage(db, name);
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "image-remove", name, digest: image.digest };
}

export function imageKeys({ read }: Pick<ImageChangesDeps, "read">): Reply<"image-keys"> {
  const keys = listImageKeys(read).map(({ sha256, trustedAt }) => ({
    ...{ sha256, trustedAt: instant(trustedAt) },
  }));
  return { ok: true, verb: "image-keys", keys };
}

/** @throws ApiError image_key_invalid */
export async function trustKey(deps: ImageChangesDeps, pem: string): Promise<Reply<"image-trust">> {
  const key = readImageKey(pem);
  await byOperator(
    deps,
    "admin.image.trust",
    APPLIANCE,
    { change: "trusted", key_sha256: key.sha256 },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        trustImageKey(db, { ...key, trustedAt: deps.now() });
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "image-trust", sha256: key.sha256 };
}

/** What it admitted stays admitted. @throws ApiError not_found */
export async function distrustKey(
  deps: ImageChangesDeps,
  begin: string,
): Promise<Reply<"image-distrust">> {
  const found = listImageKeys(deps.read).filter(({ sha256 }) => sha256.startsWith(begin));
  const [key] = found;
  if (key === undefined || found.length > 1)
    throw new ApiError("not_found", `${found.length} trusted keys begin with ${begin}`);
  await byOperator(
    deps,
    "admin.image.trust",
    APPLIANCE,
    { change: "distrusted", key_sha256: key.sha256 },
    async ({ completeIn }) => {
      await deps.commit.run((db) => {
        if (!distrustImageKey(db, key.sha256))
          throw new ApiError("not_found", "it is gone already");
        completeIn(db);
      });
    },
  );
  return { ok: true, verb: "image-distrust", sha256: key.sha256 };
}

/** @returns what vouches for it; null where the digest itself was said */
function proofOf(
  { read, now }: ImageChangesDeps,
  { name, digest }: { name: string; digest: string },
  admission: Request<"image-add">["admission"],
): string | null {
  if (admission.by === "signature")
    return signerOf(digest, admission.signature, listImageKeys(read)).sha256;
  if (admission.by === "approval") {
    requireApprovedImage(findApproval(read, admission.approval), { name, digest }, now());
    return admission.approval;
  }
  if (admission.said !== digest)
    throw new ApiError("image_digest_differs", `it is ${digest}, and ${admission.said} was said`);
  return null;
}

function factsOf(image: OwnImage, read: ReadHandle): ImageFacts {
  const { name, digest, sizeBytes, admittedBy, proof, admittedAt } = image;
  return {
    ...{ name, digest, sizeBytes, admittedBy, proof, admittedAt: instant(admittedAt) },
    deployments: deploymentsOf(read, name),
  };
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}
