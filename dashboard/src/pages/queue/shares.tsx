import type { SharesReply, StandingShareReply } from "@resontech/contracts/http-shares";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";
import { useMay } from "../../api/session.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/count-of.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { useKept } from "../../ui/use-kept.ts";
import { shareBars, type ShareBar } from "./share-bars.ts";
import { ShareForm } from "./share-form.tsx";
import styles from "./queue.module.css";

const ASKED_EVERY_MS = 15_000;
const KINDS: Record<StandingShareReply["kind"], string> = {
  organisation: "Organisation",
  team: "Team",
  project: "Project",
  others: "",
};

/** Who is guaranteed how much, and who uses, lends and borrows it. */
export function Shares() {
  const shares = useQuery({
    queryKey: ["shares"],
    queryFn: ({ signal }) => ask("GET", "/api/shares", { signal }),
    refetchInterval: ASKED_EVERY_MS,
  });
  if (shares.isPending) return <Skeleton rows={4} />;
  if (shares.isError && shares.data === undefined)
    return <Failure error={shares.error} retry={() => void shares.refetch()} />;
  return (
    <Panel title="Shares" aside={<Legend />}>
      {shares.data.isSet ? null : (
        <p>Nobody is guaranteed anything: workers are lent in order of arrival.</p>
      )}
      {shares.data.shares.length === 0 ? <p>You are in no project.</p> : null}
      <Tree of={shares.data} onChanged={async () => void (await shares.refetch())} />
    </Panel>
  );
}

function Tree({
  of: { shares, fleet },
  onChanged,
}: {
  of: SharesReply;
  onChanged: () => Promise<void>;
}) {
  const below = Map.groupBy(shares, ({ parent }) => parent);
  const known = new Set(shares.map(({ id }) => id));
  const tops = shares.filter(({ parent }) => parent === null || !known.has(parent));
  const level = (ones: readonly StandingShareReply[]) => (
    <ul className={styles["tree"]}>
      {ones.map((share) => (
        <li key={share.id ?? `others of ${share.parent}`}>
          <Share share={share} fleet={fleet} onChanged={onChanged} />
          {share.id !== null && below.has(share.id) ? level(below.get(share.id)!) : null}
        </li>
      ))}
    </ul>
  );
  return level(tops);
}

function Share({
  share,
  fleet,
  onChanged,
}: {
  share: StandingShareReply;
  fleet: SharesReply["fleet"];
  onChanged: () => Promise<void>;
}) {
  const maySet = useMay("share.set");
  const [isOpen, setOpen] = useKept(`rt-share-open-${share.id}`, false);
  const { id, kind, name, weight, queued, personRunning, personQueued } = share;
  const bars = shareBars(share, fleet);
  return (
    <div className={styles["share"]}>
      <div className={styles["line"]}>
        <strong>{name ?? "Others, summed"}</strong>
        <span className={styles["quiet"]}>
          {[
            ...(kind === "others" ? [] : [KINDS[kind]]),
            ...(weight === null || weight === 1 ? [] : [`weight ${weight}`]),
            ...(personRunning === null
              ? []
              : [`at most ${countOf(personRunning, "worker")} a person`]),
            ...(personQueued === null
              ? []
              : [`at most ${countOf(personQueued, "waiting job")} a person`]),
            ...(queued === 0 ? [] : [`${countOf(queued, "job")} waiting`]),
          ].join(" · ")}
        </span>
        {id === null ? null : <code className={styles["quiet"]}>{id}</code>}
        {maySet && id !== null ? (
          <span className={styles["act"]}>
            <Button
              look="quiet"
              aria-expanded={isOpen}
              aria-label={`Change the share of ${name}, ${id}`}
              onPress={() => setOpen(!isOpen)}
            >
              Change
            </Button>
          </span>
        ) : null}
      </div>
      {bars.length === 0 ? (
        <p className={styles["quiet"]}>Holds nothing.</p>
      ) : (
        bars.map((bar) => <Bar key={bar.model} bar={bar} />)
      )}
      {isOpen && id !== null ? (
        <ShareForm
          share={{ ...share, id }}
          models={fleet.map(({ model }) => model)}
          onSet={async () => {
            await onChanged();
            setOpen(false);
          }}
        />
      ) : null}
    </div>
  );
}

/** The words beside it say the same. */
function Bar({ bar: { model, parts, limit, words } }: { bar: ShareBar }) {
  return (
    <div className={styles["model"]}>
      <span>
        <strong>{model}</strong> <span className={styles["quiet"]}>{words}</span>
      </span>
      <svg width="100%" height="12" aria-hidden="true" className={styles["bar"]}>
        <rect width="100%" height="12" data-part="rest" />
        {parts.map(({ part, at, size }) => (
          <rect
            key={part}
            data-part={part}
            x={`${at * 100}%`}
            width={`${size * 100}%`}
            height="12"
          />
        ))}
        {limit === null ? null : (
          <rect data-part="limit" x={`${Math.min(99, limit * 100)}%`} width="4" height="12" />
        )}
      </svg>
    </div>
  );
}

function Legend() {
  return (
    <span className={styles["legend"]}>
      {(
        [
          ["used", "guaranteed, used"],
          ["lent", "lent"],
          ["ready", "guaranteed, free"],
          ["borrowed", "borrowed"],
          ["limit", "limit"],
        ] as const
      ).map(([part, words]) => (
        <span key={part}>
          <svg width="12" height="12" aria-hidden="true" className={styles["bar"]}>
            <rect
              data-part={part}
              x={part === "limit" ? 4 : 0}
              width={part === "limit" ? 4 : 12}
              height="12"
            />
          </svg>{" "}
          {words}
        </span>
      ))}
    </span>
  );
}
