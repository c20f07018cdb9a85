import { type ComponentType, type ReactNode, useEffect, useState } from "react";
import { Skeleton } from "./skeleton.tsx";

/** Fetched when it is first shown, or before that by `preload`. */
export type LoadedComponent<P> = { (props: P): ReactNode; preload: () => Promise<unknown> };

/**
 * A component that is no part of the first load. It is drawn as soon as it is there: React's own `lazy` holds a page back for 300 ms once it has shown that
 * something is on its way. One that can't be fetched is thrown where it is shown.
 */
export function loadedComponent<P extends object>(
  load: () => Promise<ComponentType<P>>,
): LoadedComponent<P> {
  let found: { Component: ComponentType<P> } | null = null;
  const fetched = async (): Promise<{ Component: ComponentType<P> }> =>
    (found ??= { Component: await load() });
  const Loaded = (props: P): ReactNode => {
    const [shown, setShown] = useState<typeof found | { error: unknown }>(found);
    useEffect(() => {
      if (shown === null) fetched().then(setShown, (error: unknown) => setShown({ error }));
    }, [shown]);
    if (shown === null) return <Skeleton />;
    if ("error" in shown) throw shown.error;
    return <shown.Component {...props} />;
  };
  return Object.assign(Loaded, { preload: async () => await fetched().catch(() => undefined) });
}
