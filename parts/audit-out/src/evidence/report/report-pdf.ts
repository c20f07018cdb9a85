/** A report as PDF. The same report always has the same bytes: no time of writing and no drawn id stands in it. */
import { PDFDocument } from "@cantoo/pdf-lib";
import { type FontName, PageFlow, TEXT_WIDTH, type TextStyle } from "./page-flow.ts";
import type { Report } from "./report.ts";
import type { Block, Column } from "./report-block.ts";

type TableBlock = Extract<Block, { kind: "table" }>;
/** A row's cells, each in its lines. */
type BrokenRow = { cells: readonly string[][]; lines: number };

const TITLE: TextStyle = { font: "bold", size: 19, leading: 25 };
const SUBTITLE: TextStyle = { font: "regular", size: 12, leading: 16 };
const HEADING: TextStyle = { font: "bold", size: 12.5, leading: 19 };
const BODY: TextStyle = { font: "regular", size: 9.5, leading: 13 };
const COMMAND: TextStyle = { font: "fixed", size: 9, leading: 13 };
const CELL = { size: 9, leading: 12 };
const CELL_GAP = 8;
const ROW_PADDING = 3;
const INDENT = 12;
/** A heading does not stand alone at the end of a page. */
const KEPT_WITH_HEADING = 60;

export async function reportPdf({ title, subtitle, footer, at, blocks }: Report): Promise<Buffer> {
  const document = await PDFDocument.create({ updateMetadata: false });
  const flow = await PageFlow.on(document);
  document.setTitle(flow.lines(`${title}: ${subtitle}`, BODY, Number.POSITIVE_INFINITY).join(" "), {
    showInWindowTitleBar: true,
  });
  document.setLanguage("en-GB");
  if (at !== "")
    for (const set of ["setCreationDate", "setModificationDate"] as const)
      document[set](new Date(at));
  flow.write(title, TITLE);
  flow.write(subtitle, SUBTITLE);
  flow.skip(10);
  for (const block of blocks) writeBlock(flow, block);
  flow.writeFooters(footer);
  return Buffer.from(await document.save());
}

function writeBlock(flow: PageFlow, block: Block): void {
  switch (block.kind) {
    case "heading":
      flow.needs(KEPT_WITH_HEADING);
      if (!flow.isTop) flow.skip(14);
      flow.write(block.text, HEADING);
      return;
    case "paragraph":
      flow.write(block.text, BODY);
      flow.skip(5);
      return;
    case "item":
      flow.needs(BODY.leading);
      flow.put("•", BODY, 0);
      flow.write(block.text, BODY, INDENT);
      flow.skip(3);
      return;
    case "command":
      flow.write(block.text, COMMAND, INDENT);
      flow.skip(6);
      return;
    case "table":
      writeTable(flow, block);
      return;
  }
}

function writeTable(flow: PageFlow, { columns, hasHead, rows }: TableBlock): void {
  const head = hasHead
    ? broken(
        flow,
        columns,
        columns.map((column) => column.title),
        "bold",
      )
    : null;
  const writeHead = (): void => {
    if (head === null) return;
    for (let at = 0; at < head.lines; at += 1) writeLine(flow, columns, head, at, "bold");
    flow.skip(ROW_PADDING);
    flow.rule(true);
    flow.skip(ROW_PADDING);
  };
  flow.needs(KEPT_WITH_HEADING);
  writeHead();
  for (const cells of rows) {
    const row = broken(flow, columns, cells);
    if (flow.needs(row.lines * CELL.leading + ROW_PADDING)) writeHead();
    for (let at = 0; at < row.lines; at += 1) {
      // A row that is higher than a page goes on with the next one.
      if (flow.needs(CELL.leading)) writeHead();
      writeLine(flow, columns, row, at);
    }
    flow.skip(ROW_PADDING);
    flow.rule(false);
    flow.skip(ROW_PADDING);
  }
  flow.skip(5);
}

function broken(
  flow: PageFlow,
  columns: readonly Column[],
  texts: readonly string[],
  font?: FontName,
): BrokenRow {
  const cells = columns.map((column, at) => {
    const isLast = at === columns.length - 1;
    return flow.lines(
      texts[at] ?? "",
      cellStyle(column, font),
      column.width - (isLast ? 0 : CELL_GAP),
    );
  });
  return { cells, lines: Math.max(...cells.map(({ length }) => length)) };
}

function writeLine(
  flow: PageFlow,
  columns: readonly Column[],
  { cells }: BrokenRow,
  line: number,
  font?: FontName,
): void {
  let x = 0;
  for (const [at, column] of columns.entries()) {
    const end = at === columns.length - 1 ? TEXT_WIDTH : x + column.width - CELL_GAP;
    const right = column.align === "right" ? end : undefined;
    flow.put(cells[at]![line] ?? "", cellStyle(column, font), x, right);
    x += column.width;
  }
  flow.skip(CELL.leading);
}

function cellStyle(column: Column, font?: FontName): TextStyle {
  return { ...CELL, font: font ?? column.font ?? "regular" };
}
