import { useState } from "react";
import { bytes } from "../../ui/bytes.ts";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import { upload } from "./upload.ts";
import { useChanged } from "./use-changed.ts";

/** Puts files of the person into the folder that is shown. */
export function PutFiles({ project, prefix }: { project: string; prefix: string }) {
  const changed = useChanged(project);
  const [sent, setSent] = useState<{ name: string; done: number; size: number } | null>(null);
  const put = useAction(async (files: readonly File[]) => {
    try {
      for (const file of files) {
        setSent({ name: file.name, done: 0, size: file.size });
        await upload(`${prefix}${file.name}`, file, project, (count) =>
          setSent((before) => (before === null ? null : { ...before, done: before.done + count })),
        );
      }
    } finally {
      setSent(null);
      await changed();
    }
  });
  return (
    <Panel title="Upload">
      <Field label="Upload files here" hint="An object of the same name gets a new version.">
        <input
          type="file"
          multiple
          disabled={put.isBusy}
          onChange={({ target }) => {
            put.run([...(target.files ?? [])]);
            target.value = "";
          }}
        />
      </Field>
      {sent === null ? null : (
        <p role="status">
          {sent.name}:{" "}
          <progress max={Math.max(1, sent.size)} value={sent.done} aria-label="Uploaded" />{" "}
          {bytes(sent.done)} of {bytes(sent.size)}
        </p>
      )}
      {put.error === null ? null : <Failure error={put.error} />}
    </Panel>
  );
}
