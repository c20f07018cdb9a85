/**
 * OSCAL assessment results of one framework: for each control what the log holds, as observations that lead to its entries. Every UUID comes from what it
 * stands for, so two packs of one tree are the same, and a pack of a later tree can be laid beside an earlier one.
 */
import type { ControlFindings, PackScope } from "./pack-scope.ts";
import { uuidV5 } from "./uuid-v5.ts";

const OSCAL_VERSION = "1.2.1";

export function assessmentResults(
  { name, framework, origin, size, root, from, to }: PackScope,
  controls: readonly ControlFindings[],
): object {
  const id = (...parts: string[]): string => uuidV5([name, origin, String(size), ...parts].join("\n"));
  const observations = controls.map(({ id: control, title, count, firstIndex, lastIndex }) => ({
    uuid: id("observation", control),
    title,
    description:
      count === 0
        ? "The log holds no entry of the types that bear on this control."
        : `${count} entries, ${firstIndex} to ${lastIndex}.`,
    props: [{ name: "entries", value: String(count) }],
    methods: ["EXAMINE"],
    types: ["control-objective"],
    collected: to,
    ...(firstIndex === null || lastIndex === null
      ? {}
      : { "relevant-evidence": [firstIndex, lastIndex].map((index) => evidence(origin, index)) }),
  }));
  return {
    "assessment-results": {
      uuid: id(),
      metadata: {
        title: `${framework.title}: evidence from ${origin}`,
        "last-modified": to,
        version: String(size),
        "oscal-version": OSCAL_VERSION,
      },
      "import-ap": { href: "#", remarks: "The plan is the auditor's own." },
      results: [
        {
          uuid: id("result"),
          title: framework.title,
          description: `What the audit log ${origin} holds in its first ${size} entries, root ${root}. Whether it suffices is for the auditor to say.`,
          start: from,
          end: to,
          "reviewed-controls": {
            "control-selections": [
              { "include-controls": controls.map(({ id: control }) => ({ "control-id": tokenOf(control) })) },
            ],
          },
          observations,
        },
      ],
    },
  };
}

function evidence(origin: string, index: number): object {
  return {
    href: `urn:audit:${origin}:${index}`,
    description: `Entry ${index} of ${origin}; a proof of it is had with GET /events/${index}.`,
  };
}

/** OSCAL's tokens begin with a letter. */
function tokenOf(id: string): string {
  return /^[A-Za-z]/.test(id) ? id : `c-${id}`;
}
