/** Own images, and the keys that admit them. */
import type { AskedAdmission, ImageFacts } from "@resontech/contracts/operator-images";
import type { FastifyInstance } from "fastify";
import { ApiError } from "../../api-error.ts";
import { findApproval } from "../../approvals/approval-store.ts";
import type { GroupCommit } from "../../db/group-commit.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { instant } from "../../http/decisions/job-replies.ts";
import { requireApprovedImage } from "../../images/decisions/approved-image.ts";
import { readImageKey, signerOf } from "../../images/decisions/image-signature.ts";
import { distrustImageKey, listImageKeys, trustImageKey } from "../../images/image-keys.ts";
import {
  deploymentsOf,
  type OwnImage,
  OwnImageTable,
  putOwnImage,
  removeOwnImage,
} from "../../images/own-image-table.ts";
import { answerOperator } from "../answer-operator.ts";

export type OperatorImageDeps = { read: ReadHandle; commit: GroupCommit; now: () => number };

const APPLIANCE = { kind: "appliance", id: "appliance" } as const;

export async function operatorImageRoutes(
  app: FastifyInstance,
  { read, commit, now }: OperatorImageDeps,
): Promise<void> {
  const table = new OwnImageTable(read);

  answerOperator(
    app,
    "image-list",
    { action: "image.list", audit: { none: "status" } },
    async () => ({ images: table.list().map((one) => factsOf(one, read)) }),
  );

  /** The registry has its bytes already; from here on deployments find it by its name. The same image under the same name is admitted anew. */
  answerOperator(
    app,
    "image-add",
    { action: "image.add", audit: { event: "admin.image.add" } },
    async ({ name, digest, sizeBytes, program, admission }, request) => {
      const there = table.find(name);
      if (there !== null && there.digest !== digest)
        throw new ApiError("image_exists", `${name} is ${there.digest} here, not ${digest}`);
      const proof = proofOf({ name, digest }, admission);
      const image: OwnImage = {
        ...{ name, digest, sizeBytes, program, admittedBy: admission.by, proof },
        admittedAt: now(),
      };
      await request.audit.operation(
        {
          ...{ type: "admin.image.add", object: APPLIANCE },
          detail: {
            ...{ name, image_sha256: digest.slice("sha256:".length), by: admission.by },
            ...(admission.by === "signature" && proof !== null ? { key_sha256: proof } : {}),
            ...(admission.by === "approval" ? { approval: admission.approval } : {}),
          },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            putOwnImage(db, image);
            completeIn(db);
          }),
      );
      return { image: factsOf(image, read) };
    },
  );

  /** Its bytes are the registry's to forget. */
  answerOperator(
    app,
    "image-remove",
    { action: "image.remove", audit: { event: "admin.image.remove" } },
    async ({ name }, request) => {
      const image = table.find(name);
      if (image === null) throw new ApiError("not_found", `no image ${name} was admitted`);
      await request.audit.operation(
        {
          ...{ type: "admin.image.remove", object: APPLIANCE },
          detail: { name, image_sha256: image.digest.slice("sha256:".length) },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            // Looked at where nothing else is written meanwhile.
            const pinning = deploymentsOf(db, name);
            if (pinning.length > 0)
              throw new ApiError(
                "image_in_use",
                `${name} is run by ${pinning.slice(0, 5).join(", ")}`,
              );
            removeOwnImage(db, name);
            completeIn(db);
          }),
      );
      return { name, digest: image.digest };
    },
  );

  answerOperator(
    app,
    "image-keys",
    { action: "image.list", audit: { none: "settings, and nothing of people" } },
    async () => ({
      keys: listImageKeys(read).map(({ sha256, trustedAt }) => ({
        ...{ sha256, trustedAt: instant(trustedAt) },
      })),
    }),
  );

  answerOperator(
    app,
    "image-trust",
    { action: "image.trust", audit: { event: "admin.image.trust" } },
    async ({ pem }, request) => {
      const key = readImageKey(pem);
      await request.audit.operation(
        {
          ...{ type: "admin.image.trust", object: APPLIANCE },
          detail: { change: "trusted", key_sha256: key.sha256 },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            trustImageKey(db, { ...key, trustedAt: now() });
            completeIn(db);
          }),
      );
      return { sha256: key.sha256 };
    },
  );

  /** What it admitted stays admitted. */
  answerOperator(
    app,
    "image-distrust",
    { action: "image.trust", audit: { event: "admin.image.trust" } },
    async ({ key: begin }, request) => {
      const found = listImageKeys(read).filter(({ sha256 }) => sha256.startsWith(begin));
      const [key] = found;
      if (key === undefined || found.length > 1)
        throw new ApiError("not_found", `${found.length} trusted keys begin with ${begin}`);
      await request.audit.operation(
        {
          ...{ type: "admin.image.trust", object: APPLIANCE },
          detail: { change: "distrusted", key_sha256: key.sha256 },
        },
        ({ completeIn }) =>
          commit.run((db) => {
            if (!distrustImageKey(db, key.sha256))
              throw new ApiError("not_found", "it is gone already");
            completeIn(db);
          }),
      );
      return { sha256: key.sha256 };
    },
  );

  /** What vouches for it; null where the digest itself was said. @throws ApiError image_digest_differs, image_signature_invalid, approval_required */
  function proofOf(
    { name, digest }: { name: string; digest: string },
    admission: AskedAdmission,
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
}

function factsOf(image: OwnImage, read: ReadHandle): ImageFacts {
  const { name, digest, sizeBytes, admittedBy, proof, admittedAt } = image;
  return {
    ...{ name, digest, sizeBytes, admittedBy, proof, admittedAt: instant(admittedAt) },
    deployments: deploymentsOf(read, name),
  };
}
