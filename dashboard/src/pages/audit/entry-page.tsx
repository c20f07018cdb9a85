import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Failure } from "../../ui/notice.tsx";
import { Facts, Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { CheckedProof } from "./checked-proof.tsx";
import { loadVerifier } from "./load-verifier.ts";
import styles from "./audit.module.css";

/** One entry as the log has it. */
export function EntryPage({ shard, index }: { shard: string; index: string }) {
  const entry = useQuery({
    queryKey: ["audit", shard, index],
    queryFn: ({ signal }) =>
      ask("GET", "/api/audit/events/{index}", { params: { index }, query: { shard }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  useEffect(() => {
    // On its way beside the entry; what fails here is told where the proof is checked.
    loadVerifier().catch(() => undefined);
  }, []);
  if (entry.isPending) return <Skeleton />;
  if (entry.isError) return <Failure error={entry.error} retry={() => void entry.refetch()} />;
  const { leafHash, event, proof } = entry.data;
  const file = `data:text/plain;charset=utf-8,${encodeURIComponent(proof)}`;
  return (
    <>
      <PageHead title={`Entry ${shard}/${index}`} above={<Link href="/audit">Audit log</Link>} />
      <Panel title="Proof">
        <Facts facts={[["SHA-256 of the leaf", <code key="leaf">{leafHash}</code>]]} />
        <CheckedProof proof={proof} />
        <p>
          <a href={file} download={`entry-${shard}-${index}.tlog-proof`}>
            Download the proof for the offline verifier
          </a>
        </p>
      </Panel>
      <Panel title="Entry">
        <pre className={styles["leaf"]} tabIndex={0}>
          {JSON.stringify(event, null, 2)}
        </pre>
      </Panel>
    </>
  );
}
