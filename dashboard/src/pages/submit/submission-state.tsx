import { bytes } from "../../ui/bytes.ts";
import { countOf } from "../../ui/count-of.ts";
import { Failure } from "../../ui/notice.tsx";
import type { Submission } from "./use-submission.ts";

/** How far the files are, and what went wrong. @param failed what to say then */
export function SubmissionState({
  submission: { progress, error, storedCount },
  failed,
}: {
  submission: Submission;
  failed: string;
}) {
  return (
    <>
      {progress === null ? null : (
        <p role="status">
          <progress max={Math.max(1, progress.of)} value={progress.bytes} aria-label="Uploaded" />{" "}
          {bytes(progress.bytes)} of {bytes(progress.of)}
        </p>
      )}
      {error === null ? null : (
        <>
          <h3>{failed}</h3>
          <Failure error={error} />
          {storedCount === 0 ? null : (
            <p>
              {countOf(storedCount, "file is", "files are")} stored. The next try sends what is
              missing or has changed.
            </p>
          )}
        </>
      )}
    </>
  );
}
