import { ask } from "../../api/ask.ts";

/** The browser fetches the object itself, from the object store's own address. To give the URL out is a fact of the audit log. */
export async function download(key: string, project?: string, versionId?: string): Promise<void> {
  location.assign(await readUrl(key, project, versionId));
}

/** Where the object is read, for a few minutes. @param versionId none: the newest */
export async function readUrl(key: string, project?: string, versionId?: string): Promise<string> {
  const { url } = await ask("POST", "/api/users/storage/download", {
    body: { key, ...(versionId === undefined ? {} : { versionId }) },
    ...(project === undefined ? {} : { project }),
  });
  return url;
}
