import type { RotatedKeyReply } from "@resontech/contracts/http-storage";
import { useState } from "react";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Question } from "../../ui/question.tsx";
import { ShownOnce } from "../../ui/shown-once.tsx";
import { useAction } from "../../ui/use-action.ts";

/** The person's own pair for programs that speak S3. */
export function KeyPair({ project }: { project: string }) {
  const [pair, setPair] = useState<RotatedKeyReply | null>(null);
  const [isAsked, setAsked] = useState(false);
  const may = useMay("bucket.key.rotate");
  const rotate = useAction(async () => {
    setPair(await ask("PATCH", "/api/users/storage/bucket/rotate-key", { project }));
    setAsked(false);
  });
  if (!may) return null;
  return (
    <Panel title="Your key pair for S3">
      <p>
        Programs that speak S3 show it. A new pair is shown once, and the one before it is refused
        at once.
      </p>
      {pair === null ? null : (
        <>
          <Facts facts={[["Access key id", <code key="id">{pair.accessKeyId}</code>]]} />
          <ShownOnce
            id="s3-secret"
            title="Its secret"
            secret={pair.secretAccessKey}
            onDone={() => setPair(null)}
          />
        </>
      )}
      <div>
        <Button onPress={() => setAsked(true)}>Make a new pair</Button>
      </div>
      <Question
        title="Make a new key pair?"
        act="Make a new pair"
        isOpen={isAsked}
        isBusy={rotate.isBusy}
        onAct={() => rotate.run()}
        onClose={() => setAsked(false)}
      >
        <p>
          Programs that show the pair of before are refused at once. Those of other members are not
          touched.
        </p>
        {rotate.error === null ? null : <Failure error={rotate.error} />}
      </Question>
    </Panel>
  );
}
