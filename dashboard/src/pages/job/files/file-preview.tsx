import { useEffect, useRef } from "react";
import { type JobFileVersion, jobFileUrl } from "../../../api/job-file.ts";
import { bytes } from "../../../ui/bytes.ts";
import { Button } from "../../../ui/button.tsx";
import { Panel } from "../../../ui/panel.tsx";
import { Preview } from "../../../ui/preview/preview.tsx";

/** A little of one file of a job. */
export function FilePreview({
  file,
  title,
  onClose,
}: {
  file: JobFileVersion & { sizeBytes: number };
  title: string;
  onClose: () => void;
}) {
  const { job, key, versionId, sizeBytes } = file;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.focus();
    place.current?.scrollIntoView({ block: "nearest" });
  }, [key, versionId]);
  return (
    <div ref={place} tabIndex={-1}>
      <Panel
        title={title}
        aside={
          <>
            {bytes(sizeBytes)}{" "}
            <Button look="quiet" onPress={onClose}>
              Close the preview
            </Button>
          </>
        }
      >
        <Preview
          file={{ name: title, sizeBytes, urlOf: () => jobFileUrl(file) }}
          version={[job, key, versionId]}
        />
      </Panel>
    </div>
  );
}
