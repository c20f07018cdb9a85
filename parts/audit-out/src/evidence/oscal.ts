/**
 * OSCAL assessment results of one framework: for each control what the log holds, as observations that lead to the files of the pack. Every reference is to
 * a resource that stands in the document itself, and every resource is a file beside it. Every UUID comes from what it stands for, so two packs of one tree
 * are the same, and a pack of a later tree can be laid beside an earlier one.
 */
import type { OperationCounts } from "./count-operations.ts";
import { type PackFile, type PackScope, sourcesText } from "./pack-scope.ts";
import { uuidV5 } from "./uuid-v5.ts";

const OSCAL_VERSION = "1.2.1";
/** Of the names of properties that are this product's and not OSCAL's: a name, which leads nowhere. */
const NAMESPACE = "urn:uuid:6c1f5b0e-9d6a-4f5f-8a0e-3b7c2d914e66";

export type PackFiles = {
  bundles: readonly PackFile[];
  operations: PackFile;
  controls: PackFile;
  /** That no observation points to. */
  others: PackFile[];
};

export function assessmentResults(
  { name, framework, shards, period, from, to }: PackScope,
  { controls }: Pick<OperationCounts, "controls">,
  files: PackFiles,
): object {
  const about = shards.map(({ origin, size }) => `${origin} ${size}`);
  const isWhole = period.from === null && period.to === null;
  const within = isWhole ? [] : [`${period.from ?? ""} ${period.to ?? ""}`];
  const id = (...parts: string[]): string =>
    uuidV5([name, ...about, ...within, ...parts].join("\n"));
  const linkTo = (resource: string): string => `#${id("resource", resource)}`;
  const evidence = (entry: string): object => ({
    href: linkTo(files.operations.name),
    description: `Entry ${entry}: its operation is a row of ${files.operations.name}, and its leaf is in the export of that shard.`,
    props: [property("entry", entry)],
  });
  const observations = controls.map((finding) => {
    const { id: control, title, limits, count, refused, failed, open, first, last } = finding;
    return {
      uuid: id("observation", control),
      title: `${control} ${title}`,
      description:
        count === 0
          ? "The log holds no operation of the types that bear on this control."
          : `${count} operations, ${first} to ${last}; ${refused} were refused, ${failed} failed otherwise, ${open} have no outcome.`,
      props: [
        property("control", control),
        ...Object.entries({ operations: count, refused, failed, open }).map(([key, value]) =>
          property(key, String(value)),
        ),
        ...(count === 0 ? [] : [property("sources", sourcesText(finding))]),
      ],
      methods: ["EXAMINE"],
      types: ["control-objective"],
      collected: to,
      ...(first === null || last === null
        ? {}
        : { "relevant-evidence": [...new Set([first, last])].map((entry) => evidence(entry)) }),
      remarks: `What the log can't show: ${limits}`,
    };
  });
  const origins = shards.map(({ origin }) => origin).join(", ");
  const held = shards.map(
    ({ origin, size, root }) => `${origin} in its first ${size} entries, root ${root}`,
  );
  return {
    "assessment-results": {
      uuid: id(),
      metadata: {
        title: `${framework.title}: evidence from ${origins}`,
        "last-modified": to,
        version: shards.map(({ size }) => size).join("-"),
        "oscal-version": OSCAL_VERSION,
      },
      "import-ap": { href: linkTo("plan"), remarks: "The plan is the auditor's own." },
      results: [
        {
          uuid: id("result"),
          title: framework.title,
          description: `What the audit log holds: ${held.join("; ")}. Whether it suffices is for the auditor to say.`,
          start: period.from ?? from,
          end: period.to ?? to,
          "reviewed-controls": {
            description: `Ids are those of the framework in the form that OSCAL asks for; ${files.controls.name} has them as the framework writes them.`,
            links: [{ href: linkTo(files.controls.name), rel: "reference" }],
            "control-selections": [
              {
                "include-controls": controls.map(({ id: control }) => ({
                  "control-id": tokenOf(control),
                })),
              },
            ],
          },
          observations,
        },
      ],
      "back-matter": {
        resources: [
          {
            uuid: id("resource", "plan"),
            title: "Assessment plan",
            description:
              "There is none in this pack: which controls are assessed, and how, the auditor's own plan says.",
          },
          ...[...files.bundles, files.operations, files.controls, ...files.others].map(
            ({ name: file, title, sha256 }) => ({
              uuid: id("resource", file),
              title,
              rlinks: [{ href: file, hashes: [{ algorithm: "SHA-256", value: sha256 }] }],
            }),
          ),
        ],
      },
    },
  };
}

function property(name: string, value: string): { name: string; ns: string; value: string } {
  return { name, ns: NAMESPACE, value };
}

/** OSCAL's tokens begin with a letter and have no brackets: `164.308(a)(1)` becomes `c-164.308-a-1`. */
export function tokenOf(id: string): string {
  const plain = id.replace(/[^A-Za-z0-9._]+/g, "-").replace(/-$/, "");
  return /^[A-Za-z]/.test(plain) ? plain : `c-${plain}`;
}
