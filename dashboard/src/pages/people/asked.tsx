import { Link } from "wouter";
import { Failure } from "../../ui/notice.tsx";

/** What became of a request for a second person: why it was not taken, or where it waits. */
export function Asked({ error, isDone }: { error: unknown; isDone: boolean }) {
  return (
    <>
      {error === null ? null : <Failure error={error} />}
      {isDone ? (
        <p role="status">
          Asked for. <Link href="/approvals">Requests</Link>
        </p>
      ) : null}
    </>
  );
}
