import type {
  DeploymentListReply,
  DeploymentMetrics,
  DeploymentRow,
} from "@resontech/contracts/http-inference";
import {
  type InfiniteData,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { Link, useSearchParams } from "wouter";
import { ask } from "../../api/ask.ts";
import { useMay, useSession } from "../../api/session.ts";
import { applyToDeployment, concernsDeployments } from "../../live/apply-to-deployments.ts";
import { useTopic } from "../../live/live.ts";
import { PageHead } from "../../ui/page-head.tsx";
import { Button } from "../../ui/button.tsx";
import { LinkButton } from "../../ui/link-button.tsx";
import { Ago } from "../../ui/instant.tsx";
import { Empty, Failure } from "../../ui/notice.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { State } from "../../ui/state.tsx";
import { deploymentWord } from "../../ui/state-word.ts";
import { type Column, Table } from "../../ui/table.tsx";
import { waitingSentence } from "../../ui/waiting-sentence.ts";
import { DeploymentFilters } from "./deployment-filters.tsx";
import { rateText, servingText, timeText } from "./figure-texts.ts";

type Pages = InfiniteData<DeploymentListReply, number | undefined>;

const FIGURES_EVERY_MS = 5_000;
/** Of those that are there to be called, or will be. */
const LIVING = "-finished,-failed,-timed-out,-cancelled";

/** Does it answer? */
export function DeploymentsPage() {
  const { projects } = useSession();
  const [search] = useSearchParams();
  const mayModels = useMay("model.list");
  const mayDeploy = useMay("job.submit");
  const areAll = search.get("ended") === "shown";
  const filter = {
    state: areAll ? undefined : LIVING,
    project: search.get("project") ?? undefined,
    text: search.get("text") ?? undefined,
  };
  const queryKey = ["deployments", filter];
  const client = useQueryClient();
  const again = () => void client.invalidateQueries({ queryKey });
  const deployments = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam: before, signal }) =>
      ask("GET", "/api/inference/jobs", { query: { ...filter, before }, signal }),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const metrics = useQuery({
    queryKey: ["deployments-metrics"],
    queryFn: ({ signal }) => ask("GET", "/api/inference/metrics", { signal }),
    refetchInterval: FIGURES_EVERY_MS,
  });
  const metricsOf = (id: string) =>
    metrics.data?.deployments.find((deployment) => deployment.id === id) ?? null;
  const rows = deployments.data?.pages.flatMap((page) => page.deployments) ?? [];
  useTopic(
    { kind: "jobs" },
    (told) => {
      client.setQueryData<Pages>(queryKey, (old) =>
        old === undefined
          ? old
          : {
              ...old,
              pages: old.pages.map((page) => ({
                ...page,
                deployments: page.deployments.map((row) => told.reduce(applyToDeployment, row)),
              })),
            },
      );
      // Deployments come and go seldom: how many replicas answer is the API's to count.
      if (concernsDeployments(new Set(rows.map(({ id }) => id)), told)) again();
    },
    again,
  );
  const nameOf = (id: string) => projects.find((project) => project.id === id)?.name ?? id;
  return (
    <>
      <PageHead
        title="Inference"
        actions={
          <>
            {mayModels ? <Link href="/inference/models">Models of the hub</Link> : null}
            {mayDeploy ? <LinkButton href="/inference/deploy">Deploy a model</LinkButton> : null}
          </>
        }
      />
      <DeploymentFilters projects={projects} />
      {deployments.isPending ? <Skeleton /> : null}
      {deployments.isError ? (
        <Failure error={deployments.error} retry={() => void deployments.refetch()} />
      ) : null}
      {deployments.isSuccess && rows.length === 0 ? (
        <None
          isFiltered={filter.text !== undefined || filter.project !== undefined}
          mayDeploy={mayDeploy}
        />
      ) : null}
      {rows.length === 0 ? null : (
        <Table
          caption="Deployments, newest first"
          columns={columns(nameOf, metricsOf)}
          rows={rows}
          keyOf={({ id }) => id}
        />
      )}
      {deployments.hasNextPage ? (
        <div>
          <Button
            onPress={() => void deployments.fetchNextPage()}
            isDisabled={deployments.isFetchingNextPage}
          >
            Older deployments
          </Button>
        </div>
      ) : null}
    </>
  );
}

/** @param metricsOf null for one that does not run, and while nothing is known */
function columns(
  nameOf: (project: string) => string,
  metricsOf: (id: string) => DeploymentMetrics | null,
): Column<DeploymentRow>[] {
  return [
    { title: "State", narrow: "below", of: ({ state }) => <State of={deploymentWord(state)} /> },
    {
      title: "Name",
      narrow: "main",
      of: ({ id, name }) => <Link href={`/inference/jobs/${id}`}>{name}</Link>,
    },
    {
      title: "Why",
      narrow: "below",
      of: ({ id, waitingFor, reason }) => {
        const serving = metricsOf(id)?.serving?.state ?? null;
        return (
          waitingSentence(waitingFor) ??
          sentenceCase(
            reason?.replaceAll("_", " ") ?? (serving === null ? "" : servingText(serving)),
          )
        );
      },
    },
    { title: "Replicas that answer", of: ({ ready }) => ready, isNumber: true },
    {
      title: "Requests a second",
      of: ({ id }) => {
        const figures = metricsOf(id)?.figures;
        return figures === undefined ? "–" : rateText(figures.requestsPerSecond);
      },
      isNumber: true,
    },
    {
      title: "95 % took at most",
      of: ({ id }) => timeText(metricsOf(id)?.figures.durationMs?.p95 ?? null),
      isNumber: true,
    },
    { title: "Project", of: ({ projectId }) => nameOf(projectId) },
    { title: "Owner", of: ({ owner }) => owner },
    { title: "Deployed", of: ({ createdAt }) => <Ago at={createdAt} />, isNumber: true },
  ];
}

function None({ isFiltered, mayDeploy }: { isFiltered: boolean; mayDeploy: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No deployment matches">
        <p>
          <Link href="/inference">Show all deployments</Link>
        </p>
      </Empty>
    );
  return (
    <Empty title="Nothing is deployed">
      <p>A deployment keeps a model or a class of yours ready to answer calls.</p>
      {mayDeploy ? (
        <>
          <LinkButton href="/inference/deploy">Deploy the first model</LinkButton>
          <p>
            A class of yours is deployed with the Python client <code>resontech</code>, or with{" "}
            <code>resontech infer deploy</code> in a shell.
          </p>
        </>
      ) : (
        <p>Deployments of your projects stand here as soon as somebody makes one.</p>
      )}
    </Empty>
  );
}
