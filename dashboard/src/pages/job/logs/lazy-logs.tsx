import { type ComponentProps, lazy, Suspense } from "react";
import { Skeleton } from "../../../ui/skeleton.tsx";

const Logs = lazy(async () => ({ default: (await import("./logs.tsx")).Logs }));

/** What reads logs comes when somebody opens them. */
export function LazyLogs(props: ComponentProps<typeof Logs>) {
  return (
    <Suspense fallback={<Skeleton />}>
      <Logs {...props} />
    </Suspense>
  );
}
