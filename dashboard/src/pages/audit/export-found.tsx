import type { AuditProofsReply } from "@resontech/contracts/http-audit";
import { useRef, useState } from "react";
import { ask } from "../../api/ask.ts";
import { useSession } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Row } from "../../ui/panel.tsx";
import { useAction } from "../../ui/use-action.ts";
import type { FoundEntry } from "./found-export.ts";

/** A browser holds so many proofs of 4 kB without effort. */
const MAX_ENTRIES = 10_000;

/** Everything that the search finds, each entry with its proof, in one file. */
export function ExportFound({ filters }: { filters: Readonly<Record<string, string>> }) {
  const { user } = useSession();
  const [count, setCount] = useState<number | null>(null);
  const isStopped = useRef(false);
  const run = useAction(async () => {
    isStopped.current = false;
    setCount(0);
    try {
      const askedAt = new Date().toISOString();
      const entries: FoundEntry[] = [];
      const read = async (cursor?: string): Promise<AuditProofsReply> => {
        const page = await ask("GET", "/api/audit/proofs", {
          query: { ...filters, cursor },
        });
        entries.push(...page.events);
        setCount(entries.length);
        return page;
      };
      const isMore = ({ more }: AuditProofsReply) =>
        more && entries.length < MAX_ENTRIES && !isStopped.current;
      let page = await read();
      while (isMore(page) && page.cursor !== null) page = await read(page.cursor);
      if (isStopped.current) return;
      const { archiveOf } = await import("./found-export.ts");
      const bytes = await archiveOf(entries, {
        ...{ askedBy: user.username, origin: location.origin, askedAt, filters },
        ...{ isCut: page.more, behind: page.behind, incomplete: page.incomplete },
      });
      save(bytes, `audit-${askedAt.slice(0, 19).replaceAll(":", "")}Z.zip`);
    } finally {
      setCount(null);
    }
  });
  return (
    <>
      <Row>
        <Button onPress={() => run.run()} isDisabled={run.isBusy}>
          Export what was found
        </Button>
        {count === null ? null : (
          <>
            <span role="status">{count} entries and proofs</span>
            <Button
              onPress={() => {
                isStopped.current = true;
              }}
            >
              Stop
            </Button>
          </>
        )}
      </Row>
      {run.error === null ? null : <Failure error={run.error} />}
    </>
  );
}

function save(bytes: Uint8Array<ArrayBuffer>, name: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type: "application/zip" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
