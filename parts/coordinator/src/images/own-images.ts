/** Admitted images as a deployment finds them: by name, pinned by digest in the appliance's registry. */
import { ownRepository } from "@resontech/contracts/own-image";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import type { OwnImages } from "../workloads/predictor/own-images.ts";
import { OwnImageTable } from "./own-image-table.ts";

const NAMES_TOLD = 20;

/** @param registry its host and port, as references have it */
export function ownImages(read: ReadHandle, registry: string): OwnImages {
  const table = new OwnImageTable(read);
  return {
    require(name) {
      const found = table.find(name);
      if (found === null)
        throw new ApiError("image_unknown", `no image ${name} was admitted; ${told(table)}`);
      const { digest, sizeBytes, program } = found;
      return {
        ...{ digest, program },
        image: {
          ...{ profile: ownRepository(name), sizeBytes, packages: {}, pythonVersion: "" },
          reference: `${registry}/${ownRepository(name)}@${digest}`,
        },
      };
    },
  };
}

function told(table: OwnImageTable): string {
  const names = table.list().map(({ name }) => name);
  if (names.length === 0) return "there is none yet";
  const more = names.length > NAMES_TOLD ? ` and ${names.length - NAMES_TOLD} more` : "";
  return `there are ${names.slice(0, NAMES_TOLD).join(", ")}${more}`;
}
