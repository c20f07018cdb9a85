import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { ask } from "../../api/ask.ts";
import { Failure } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { deploymentWord } from "../../ui/state-word.ts";
import { Table } from "../../ui/table.tsx";

const LIVING = { state: "-SUCCEEDED,-FAILED,-CANCELLED,-EXPIRED,-REJECTED", limit: 6 };
export const ENDPOINTS_KEY = ["deployments", "living"] as const;

export function useEndpoints(isAsked: boolean) {
  return useQuery({
    queryKey: ENDPOINTS_KEY,
    queryFn: ({ signal }) => ask("GET", "/api/inference/jobs", { query: LIVING, signal }),
    enabled: isAsked,
  });
}

/** Models that answer calls. */
export function Endpoints() {
  const endpoints = useEndpoints(true);
  if (endpoints.isPending) return <Skeleton rows={3} />;
  if (endpoints.isError)
    return <Failure error={endpoints.error} retry={() => void endpoints.refetch()} />;
  const { deployments } = endpoints.data;
  return (
    <Panel title="Endpoints" aside={<Link href="/inference">All endpoints</Link>}>
      {deployments.length === 0 ? (
        <p>No model answers calls now.</p>
      ) : (
        <Table
          caption="Endpoints"
          rows={deployments}
          keyOf={({ id }) => id}
          columns={[
            { title: "State", of: ({ state }) => <State of={deploymentWord(state)} /> },
            {
              title: "Name",
              of: ({ id, name }) => <Link href={`/inference/jobs/${id}`}>{name}</Link>,
            },
            { title: "Replicas", of: ({ ready }) => ready, isNumber: true },
          ]}
        />
      )}
    </Panel>
  );
}
