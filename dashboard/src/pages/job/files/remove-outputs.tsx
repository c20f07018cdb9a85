import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ask } from "../../../api/ask.ts";
import { useMay } from "../../../api/session.ts";
import { countOf } from "../../../ui/count-of.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Question } from "../../../ui/question.tsx";
import { useAction } from "../../../ui/use-action.ts";

/** They count in the bucket's quota until somebody removes them. */
export function RemoveOutputs({ jobId, count }: { jobId: string; count: number }) {
  const client = useQueryClient();
  const may = useMay("job.outputs.remove");
  const [isAsked, setAsked] = useState(false);
  const remove = useAction(async () => {
    await ask("DELETE", "/api/tasks/{id}/outputs", { params: { id: jobId } });
    setAsked(false);
    await client.invalidateQueries({ queryKey: ["job", jobId, "files"] });
  });
  if (!may) return null;
  return (
    <div>
      <Button look="danger" onPress={() => setAsked(true)}>
        Remove the files
      </Button>
      <Question
        title="Remove what the job left?"
        act="Remove the files"
        isOpen={isAsked}
        isBusy={remove.isBusy}
        onAct={() => remove.run()}
        onClose={() => {
          remove.forget();
          setAsked(false);
        }}
      >
        <p>
          {countOf(count, "file is", "files are")} gone for good, the model among them, and the logs
          with them. The audit log names each.
        </p>
        {remove.error === null ? null : <Failure error={remove.error} />}
      </Question>
    </div>
  );
}
