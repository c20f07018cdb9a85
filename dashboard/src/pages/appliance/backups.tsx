import type { HostReply } from "@resontech/contracts/http-appliance";
import { duration } from "../../ui/instants.ts";
import { Ago, At } from "../../ui/instant.tsx";
import { Facts } from "../../ui/panel.tsx";
import { State } from "../../ui/state.tsx";

export function Backups({ backup }: { backup: HostReply["backup"] }) {
  if (backup === null)
    return (
      <p>
        No backup is scheduled. On the host:{" "}
        <code>sudo appliance backup schedule TARGET --every 1d</code>
      </p>
    );
  const { target, everyMinutes, keep, takenAt, nextAt, isOverdue, failure, behindS } = backup;
  return (
    <Facts
      facts={[
        [
          "State",
          <State
            key="state"
            of={
              isOverdue || failure !== null
                ? {
                    word: failure === null ? "overdue" : `failed: ${failure}`,
                    tone: "bad",
                    shape: "cross",
                  }
                : { word: "as planned", tone: "good", shape: "tick" }
            }
          />,
        ],
        ["Last", takenAt === null ? "none yet" : <Ago key="last" at={takenAt} />],
        ["Next", <At key="next" at={nextAt} />],
        ["Database follows", behindS === null ? "not now" : `${behindS} s behind`],
        ["Plan", `every ${duration(everyMinutes * 60_000)}, the newest ${keep} stay, to ${target}`],
      ]}
    />
  );
}
