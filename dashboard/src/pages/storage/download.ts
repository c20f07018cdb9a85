import { ask } from "../../api/ask.ts";

/** The browser fetches the object itself, from the object store's own address. To give the URL out is a fact of the audit log. */
export async function download(key: string, project?: string): Promise<void> {
  const { url } = await ask("POST", "/api/users/storage/download", {
    body: { key },
    ...(project === undefined ? {} : { project }),
  });
  location.assign(url);
}
