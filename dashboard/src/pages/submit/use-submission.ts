import { useRef, useState } from "react";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "../storage/upload.ts";

/** @property content the same text, and the same file of the person's, are not sent twice */
type FileToSend = { key: string; content: Blob | string };
/** @property progress null while nothing is sent @property storedCount files that the next try does not send again */
export type Submission = {
  run: () => void;
  isBusy: boolean;
  error: unknown;
  progress: { bytes: number; of: number } | null;
  storedCount: number;
};

/**
 * Files are stored, then something is asked for. After a failure the next try sends what has changed or is missing.
 * @param ask gets the versions of the files, in their order, and a key by which the same question is asked once
 */
export function useSubmission(
  project: string,
  filesToSend: () => readonly FileToSend[],
  ask: (versionIds: string[], idempotencyKey: (body: object) => string) => Promise<void>,
): Submission {
  const stored = useRef(new Map<string, FileToSend & { project: string; versionId: string }>());
  const asked = useRef({ body: "", key: "" });
  const [progress, setProgress] = useState<Submission["progress"]>(null);
  const [storedCount, setStoredCount] = useState(0);
  const { run, isBusy, error } = useAction(async () => {
    const files = filesToSend().map(({ key, content }) => ({
      ...{ key, content },
      blob: typeof content === "string" ? new Blob([content]) : content,
    }));
    const of = files.reduce((sum, { blob }) => sum + blob.size, 0);
    const said = (count: number) =>
      setProgress((now) => ({ bytes: (now?.bytes ?? 0) + count, of }));
    const versionIds: string[] = [];
    setProgress({ bytes: 0, of });
    try {
      for (const { key, content, blob } of files) {
        const before = stored.current.get(key);
        const isStored = before?.content === content && before.project === project;
        const versionId = isStored ? before.versionId : await upload(key, blob, project, said);
        if (isStored) said(blob.size);
        stored.current.set(key, { key, content, project, versionId });
        versionIds.push(versionId);
        setStoredCount(versionIds.length);
      }
      await ask(versionIds, idempotencyKey);
    } finally {
      setProgress(null);
    }
  });
  return { run, isBusy, error, progress, storedCount };

  /** Of a body that was refused before, another one is another question. */
  function idempotencyKey(body: object): string {
    const text = JSON.stringify(body);
    if (asked.current.body !== text) asked.current = { body: text, key: crypto.randomUUID() };
    return asked.current.key;
  }
}
