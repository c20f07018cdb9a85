/** An image goes into the appliance: its bytes into the registry, then its name on record. In that order nothing is ever named that is not there. */
import type { AskedAdmission, ImageFacts } from "@resontech/contracts/operator-images";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { ownRepository } from "@resontech/contracts/own-image";
import { ownRepositories, putOwnImage, removeOwnImage } from "@resontech/registry/own-image";
import type { ImageArchive } from "./image-archive.ts";

export type ImageStore = { ask: AskOperator; storageDir: string };

/**
 * Safe to repeat: what an earlier try left half done is made whole, or taken away.
 * @throws ImageInvalidError, RegistryFullError, BlobChangedError, or what the coordinator refuses
 */
export async function admitImage(
  { ask, storageDir }: ImageStore,
  { name, archive, admission }: { name: string; archive: ImageArchive; admission: AskedAdmission },
): Promise<ImageFacts> {
  const { digest, program, sizeBytes, blobs } = archive;
  const images = await sweep({ ask, storageDir });
  const there = images.find((one) => one.name === name);
  const repository = ownRepository(name);
  const wish = { name, digest, sizeBytes, program, admission };
  // Under a name that is another's, or by a digest that is another one, nothing is written: the coordinator says why, on record.
  const isRefused = admission.by === "digest" && admission.said !== digest;
  if (isRefused || (there !== undefined && there.digest !== digest))
    return (await ask("image-add", wish)).image;
  await archive.check();
  await putOwnImage({ repository, digest, blobs }, (blob) => archive.open(blob), storageDir);
  try {
    return (await ask("image-add", wish)).image;
  } catch (error) {
    if (there === undefined) removeOwnImage(repository, storageDir);
    throw error;
  }
}

/** @returns its digest @throws what the coordinator refuses: it is in use, or is not there */
export async function dismissImage({ ask, storageDir }: ImageStore, name: string): Promise<string> {
  const { digest } = await ask("image-remove", { name });
  await sweep({ ask, storageDir });
  return digest;
}

/** Takes away what nobody has on record. @returns what is */
async function sweep({ ask, storageDir }: ImageStore): Promise<ImageFacts[]> {
  const { images } = await ask("image-list");
  const named = new Set(images.map(({ name }) => ownRepository(name)));
  for (const repository of ownRepositories(storageDir))
    if (!named.has(repository)) removeOwnImage(repository, storageDir);
  return images;
}
