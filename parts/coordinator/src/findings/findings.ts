/** What the coordinator tells of itself, of work, people and nodes. Pure. */
import type { FindingsDeclaration } from "@resontech/frame/finding";
import { accessFindings } from "./access-findings.ts";
import { clockFindings } from "./clock-findings.ts";
import { nodeFindings } from "./node-findings.ts";
import { peopleFindings } from "./people-findings.ts";
import { poolFindings } from "./pool-findings.ts";
import { workFindings } from "./work-findings.ts";

export const FINDINGS: FindingsDeclaration = {
  work: workFindings,
  clock: clockFindings,
  access: accessFindings,
  nodes: (facts) => [...nodeFindings(facts), ...poolFindings(facts)],
  people: peopleFindings,
};
