import { useEffect, useRef, useState } from "react";
import { bytes } from "../../ui/bytes.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { saveBytes } from "../../ui/save-bytes.ts";
import { useAction } from "../../ui/use-action.ts";

/** Takes a folder along as one archive. */
export function ZipFolder({ project, prefix }: { project: string; prefix: string }) {
  const [read, setRead] = useState<readonly [number, number] | null>(null);
  const ending = useRef<AbortController | null>(null);
  useEffect(() => () => ending.current?.abort(), []);
  const take = useAction(async () => {
    const controller = new AbortController();
    ending.current = controller;
    setRead([0, 0]);
    try {
      const { zipObjects } = await import("./zip-objects.ts");
      const told = (done: number, of: number) => setRead([done, of]);
      const archive = await zipObjects(project, prefix, told, controller.signal);
      const name = prefix.split("/").at(-2) ?? "bucket";
      saveBytes(archive, `${name}.zip`, "application/zip");
    } catch (error) {
      if (!controller.signal.aborted) throw error;
    } finally {
      setRead(null);
    }
  });
  return (
    <>
      {read === null ? (
        <Button aria-label={`Download as zip: ${prefix}`} onPress={() => take.run()}>
          Download as zip
        </Button>
      ) : (
        <span role="status">
          {bytes(read[0])} of {bytes(read[1])}{" "}
          <Button look="quiet" onPress={() => ending.current?.abort()}>
            Stop
          </Button>
        </span>
      )}
      {take.error === null ? null : <Failure error={take.error} />}
    </>
  );
}
