/** Rows of the customer's own images. Their bytes are the registry's. */
import type { ImageProgram, IMAGE_ADMISSIONS } from "@resontech/contracts/own-image";
import { TERMINAL_JOB_STATES } from "@resontech/contracts/job-states";
import { isOfKind } from "../kernel/kind-condition.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";

/** Instants in Unix milliseconds. */
export type OwnImage = {
  name: string;
  /** `sha256:<hex>`, of its manifest. */
  digest: string;
  sizeBytes: number;
  program: ImageProgram;
  admittedBy: (typeof IMAGE_ADMISSIONS)[number];
  /** The key or the request; null where the digest was said. */
  proof: string | null;
  admittedAt: number;
};
type Row = Omit<OwnImage, "program"> & { program: string };

const COLUMNS = `name, digest, size_bytes AS sizeBytes, program, admitted_by AS admittedBy, proof, admitted_at AS admittedAt`;
const OVER = TERMINAL_JOB_STATES.map((state) => `'${state}'`).join(", ");

export class OwnImageTable {
  readonly #list;
  readonly #find;

  constructor(read: ReadHandle) {
    this.#list = read.prepare<[], Row>(`SELECT ${COLUMNS} FROM own_images ORDER BY name`);
    this.#find = read.prepare<[string], Row>(`SELECT ${COLUMNS} FROM own_images WHERE name = ?`);
  }

  /** By name. */
  list(): OwnImage[] {
    return this.#list.all().map(imageOf);
  }

  find(name: string): OwnImage | null {
    const row = this.#find.get(name);
    return row === undefined ? null : imageOf(row);
  }
}

/** Deployments that run it, or are about to. */
export function deploymentsOf(db: ReadHandle | WriteHandle, image: string): string[] {
  return db
    .prepare<[string], string>(
      `SELECT id FROM jobs WHERE ${isOfKind("predictor")} AND state NOT IN (${OVER})
       AND json_extract(spec, '$.engine') = 'container' AND json_extract(spec, '$.image') = ? ORDER BY sequence`,
    )
    .pluck()
    .all(image);
}

/** Writes an image's row, inside a transaction, in the place of one with the same name. */
export function putOwnImage(db: WriteHandle, { program, ...image }: OwnImage): void {
  db.prepare(
    `INSERT INTO own_images (name, digest, size_bytes, program, admitted_by, proof, admitted_at)
     VALUES (@name, @digest, @sizeBytes, @program, @admittedBy, @proof, @admittedAt)
     ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, size_bytes = excluded.size_bytes, program = excluded.program,
       admitted_by = excluded.admitted_by, proof = excluded.proof, admitted_at = excluded.admitted_at`,
  ).run({ ...image, program: JSON.stringify(program) });
}

export function removeOwnImage(db: WriteHandle, name: string): void {
  db.prepare("DELETE FROM own_images WHERE name = ?").run(name);
}

function imageOf({ program, ...row }: Row): OwnImage {
  return { ...row, program: JSON.parse(program) as ImageProgram };
}
