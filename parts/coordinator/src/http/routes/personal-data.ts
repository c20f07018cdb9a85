/** What is held about a person, in one file: Article 15 of the GDPR. */
import { Readable } from "node:stream";
import type { FastifyPluginAsyncTypebox } from "@fastify/type-provider-typebox";
import { IdParam } from "@resontech/contracts/http-common";
import { searchOf } from "@resontech/contracts/audit-searches";
import type { AuditEventsReply } from "@resontech/contracts/http-audit";
import type { PersonalDataLine } from "@resontech/contracts/http-personal-data";
import { Type } from "typebox";
import { type AuditSearch, type AuditView, viewOf } from "../../audit/audit-search.ts";
import type { RowFilter } from "../../db/row-filter.ts";
import type { ReadHandle } from "../../db/open-database.ts";
import { subjectOf } from "../../identity/people-store.ts";
import { accountOf, personalRows } from "../../identity/personal-data.ts";
import { authorize, authorizedRow } from "../authorization.ts";
import { responses } from "../responses.ts";
import type { SignInParts } from "./sign-in.ts";

/** @property identity null where the appliance has no identity provider: nobody has an account */
export type PersonalDataRoutesDeps = {
  read: ReadHandle;
  identity: Pick<SignInParts, "accounts"> | null;
  auditSearch: Pick<AuditSearch, "events">;
  /** Unix milliseconds. */
  now: () => number;
};

/** Entries of the log that are asked for at a time. */
const PAGE = 200;
/** Said in the file itself: whoever reads it must not take it for more than it is. */
const LEFT_OUT = [
  "what stands in files, models and logs of jobs: it is the project's, and lies in the bucket",
  "values that the audit log keeps sealed, such as addresses: two people open them with `appliance audit export --disclose`",
  "single calls of models: the gateway's journal has them by key, without their text",
  "Keycloak's own events, and what a connected directory holds about the person",
  "mails and messages that left the appliance, and backups until they end",
];

export const personalDataRoutes: FastifyPluginAsyncTypebox<PersonalDataRoutesDeps> = async (
  app,
  { read, identity, auditSearch, now },
) => {
  app.get(
    "/api/people/:id/data",
    {
      schema: {
        summary:
          "What is held about a person, a JSON line each: the first says what is left out, the last that it is whole",
        ...{
          tags: ["approvals"],
          params: Type.Object({ id: IdParam }, { additionalProperties: false }),
          response: {
            ...responses(200, Type.String()),
            200: {
              description: "JSON lines, each a PersonalDataLine.",
              content: { "application/jsonl": { schema: Type.String() } },
            },
          },
        },
      },
      config: { access: { action: "person.data" }, audit: { event: "privacy.access" } },
    },
    async (request, reply) => {
      const { id } = request.params;
      const found = accountOf(read, id);
      await authorizedRow(request, "person.data", found === null ? null : { userId: id });
      const { rows } = await authorize(request, "person.data", "rows");
      const view = viewOf(rows);
      // What can fail is asked before the first byte leaves.
      const subject = subjectOf(read, id);
      const account =
        subject === null || identity === null ? null : await identity.accounts.heldAbout(subject);
      const held = [...personalRows(read, id)];
      const first = await entries(id, view, undefined);
      await request.audit.fact({
        type: "privacy.access",
        object: { kind: "user", id },
        detail: { rows: held.length, account: account !== null },
      });
      const lines: PersonalDataLine[] = [
        {
          ...{ part: "about", person: id, at: new Date(now()).toISOString() },
          ...{ entries: shownTo(rows), leftOut: LEFT_OUT },
        },
        { part: "user", ...found! },
        { part: "account", account },
        ...held,
      ];
      return reply
        .type("application/jsonl; charset=utf-8")
        .header("content-disposition", `attachment; filename="${id}.jsonl"`)
        .send(Readable.from(written(lines, pages(id, view, first))));
    },
  );

  async function entries(
    person: string,
    view: AuditView,
    cursor: string | undefined,
  ): Promise<AuditEventsReply> {
    const { any, below } = searchOf("person", { person });
    return await auditSearch.events(
      { any, filters: below === undefined ? {} : { below } },
      { order: "oldest", limit: PAGE, ...(cursor === undefined ? {} : { cursor }) },
      view,
    );
  }

  async function* pages(
    person: string,
    view: AuditView,
    first: AuditEventsReply,
  ): AsyncGenerator<PersonalDataLine> {
    for (let page = first; ; page = await entries(person, view, page.cursor ?? undefined)) {
      for (const entry of page.events) yield { part: "entry", entry };
      if (!page.more || page.cursor === null) return;
    }
  }
};

/** A person finds what they did and what was done for them; whoever answers in the house finds also what others did about the person. */
function shownTo(rows: RowFilter): "all" | "own" {
  return rows === "all" ? "all" : "own";
}

async function* written(
  lines: readonly PersonalDataLine[],
  more: AsyncIterable<PersonalDataLine>,
): AsyncGenerator<string> {
  let count = 0;
  const line = (one: PersonalDataLine): string => {
    count += 1;
    return `${JSON.stringify(one)}\n`;
  };
  for (const one of lines) yield line(one);
  for await (const one of more) yield line(one);
  yield line({ part: "end", lines: count });
}
