import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { ImageProgram } from "@resontech/contracts/own-image";

/** @property digest `sha256:<hex>`, which the deployment runs to its end */
export type OwnImageSource = { image: JobImage; digest: string; program: ImageProgram };

/** The customer's images that were admitted to the appliance. */
export type OwnImages = {
  /** @throws ApiError image_unknown */
  require(name: string): OwnImageSource;
};
