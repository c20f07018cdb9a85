import { goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import type { Office } from "./office.ts";

/** A federation of two sites, of Ada's; answers its id. */
export async function submitFederation(
  { house, ada }: Pick<Office, "house" | "ada">,
  name: string,
  change: object = {},
): Promise<string> {
  const { running } = house;
  const slug = name.replaceAll(" ", "-");
  await upload(running.s3, ada.bucketAlias, slug, goodFiles());
  const asked = { ...goodBody(slug), name, ...change };
  const { status, body } = await running.request("POST", "/api/tasks", ada.platformKey, asked);
  if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
  return String(body["id"]);
}
