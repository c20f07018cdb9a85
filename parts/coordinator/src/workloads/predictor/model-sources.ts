/** Where weights may come from beside the deployment's own folder. */
import type { ObjectVersion } from "../../storage/object-store.ts";

/** One version of an object. @property sha256 hex; null where only who uploaded it knows */
export type ModelObject = ObjectVersion & { bucket: string; sha256: string | null };

/** A model of the hub as it is, with its files by path. */
export type HubSnapshot = {
  name: string;
  revision: string;
  commit: string;
  /** Holds the commit as text. */
  ref: ModelObject & { sha256: string };
  files: readonly (ModelObject & { path: string; sha256: string })[];
};

/** Asked in the name of whoever deploys: what he may not read is not there. */
export type ModelSources = {
  /** @throws ApiError model_not_found, model_not_ready */
  ofJob(job: string, file: string): Promise<ModelObject>;
  /** @throws ApiError model_not_found, model_not_ready */
  ofHub(name: string, revision: string): HubSnapshot;
  /**
   * Whether the object may be used here: some outputs leave by approval alone, and code of the user's could tell what it has read.
   * @throws ApiError export_controlled
   */
  checkUse(object: Pick<ModelObject, "bucket" | "key">, isReadByCode: boolean): void;
};
