/** The appliance's registry has another host and port since the appliance got another name: references of images follow. */
import type { Meta } from "../db/meta.ts";
import type { WriteHandle } from "../db/open-database.ts";

type ImageRow = { id: string; image: string | null; images: string | null };

/**
 * All images that jobs and members name are of the appliance's own registry, so only the host before the first `/` is another one.
 * Inside a transaction.
 *
 * @param host of the registry, `<name>:<port>`
 * @returns how many rows followed
 */
export function followRegistry(db: WriteHandle, meta: Meta, host: string): number {
  if (meta.text("registry-host") === host) return 0;
  const followed = followIn(db, host, "jobs", "images") + followIn(db, host, "members", "NULL");
  meta.set("registry-host", host);
  return followed;
}

function followIn(
  db: WriteHandle,
  host: string,
  table: "jobs" | "members",
  images: "images" | "NULL",
): number {
  const rows = db
    .prepare<[], ImageRow>(`SELECT id, image, ${images} AS images FROM ${table}`)
    .all();
  const update = db.prepare(
    table === "jobs"
      ? "UPDATE jobs SET image = @image, images = @images WHERE id = @id"
      : "UPDATE members SET image = @image WHERE id = @id",
  );
  let followed = 0;
  for (const { id, image, images: several } of rows) {
    const next = { id, image: moved(image, host), images: moved(several, host) };
    if (next.image === image && next.images === several) continue;
    update.run(table === "jobs" ? next : { id, image: next.image });
    followed += 1;
  }
  return followed;
}

/** @param json one image, or several; with `reference` each */
function moved(json: string | null, host: string): string | null {
  if (json === null) return null;
  const value: unknown = JSON.parse(json);
  for (const image of Array.isArray(value) ? value : [value]) {
    const { reference } = image as { reference: string };
    (image as { reference: string }).reference =
      `${host}${reference.slice(reference.indexOf("/"))}`;
  }
  return JSON.stringify(value);
}
