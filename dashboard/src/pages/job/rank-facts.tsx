import { rankWords } from "@resontech/contracts/rank-words";
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/ask.ts";

/** How many ranks one script has, and how they share the work: a fact of a list. Nothing before the appliance has answered. */
export function RankFacts({ jobId }: { jobId: string }) {
  const parameters = useQuery({
    queryKey: ["job", jobId, "parameters"],
    queryFn: ({ signal }) =>
      ask("GET", "/api/jobs/{id}/parameters", { params: { id: jobId }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const words = parameters.data === undefined ? null : rankWords(parameters.data);
  if (words === null) return null;
  return (
    <div>
      <dt>Ranks</dt>
      <dd>{words}</dd>
    </div>
  );
}
