/** Fills A4 pages from top to bottom, and begins another one where there is no room. */
import { type PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from "@cantoo/pdf-lib";
import { lengthOf, printable, wrap } from "./printable-text.ts";

export type FontName = "regular" | "bold" | "fixed";
export type TextStyle = { font: FontName; size: number; leading: number };
type Face = { font: PDFFont; known: ReadonlySet<number>; widths: Map<string, number> };

const PAGE: [number, number] = [595.28, 841.89];
const MARGIN = 56;
const TOP = PAGE[1] - MARGIN;
const BOTTOM = MARGIN + 14;
const FOOTER: TextStyle = { font: "fixed", size: 7, leading: 9 };
const INK = rgb(0.1, 0.1, 0.12);
const FAINT = rgb(0.45, 0.45, 0.5);
const RULE = rgb(0.8, 0.8, 0.83);

/** Room between the margins. */
export const TEXT_WIDTH = 483;

export class PageFlow {
  readonly #document: PDFDocument;
  readonly #faces: Readonly<Record<FontName, Face>>;
  #page: PDFPage;
  /** Everything above it is taken. */
  #y = TOP;

  private constructor(document: PDFDocument, faces: Readonly<Record<FontName, Face>>) {
    this.#document = document;
    this.#faces = faces;
    this.#page = document.addPage(PAGE);
  }

  static async on(document: PDFDocument): Promise<PageFlow> {
    const face = async (name: StandardFonts): Promise<Face> => {
      const font = await document.embedFont(name);
      return { font, known: new Set(font.getCharacterSet()), widths: new Map() };
    };
    return new PageFlow(document, {
      regular: await face(StandardFonts.Helvetica),
      bold: await face(StandardFonts.HelveticaBold),
      fixed: await face(StandardFonts.Courier),
    });
  }

  /** Begins another page where less than this is left of this one. @returns whether it did */
  needs(height: number): boolean {
    if (this.#y - height >= BOTTOM) return false;
    this.#page = this.#document.addPage(PAGE);
    this.#y = TOP;
    return true;
  }

  get isTop(): boolean {
    return this.#y === TOP;
  }

  skip(height: number): void {
    this.#y -= height;
  }

  lines(text: string, style: TextStyle, width: number): string[] {
    return wrap(printable(text, this.#faces[style.font].known), width, (character) =>
      this.#widthOf(character, style),
    );
  }

  /** A paragraph over as many pages as it takes. */
  write(text: string, style: TextStyle, indent = 0): void {
    for (const line of this.lines(text, style, TEXT_WIDTH - indent)) {
      this.needs(style.leading);
      this.put(line, style, indent);
      this.skip(style.leading);
    }
  }

  /** One line that was made by {@link lines}, where the flow stands. */
  put(line: string, style: TextStyle, x: number, right?: number): void {
    const from = right === undefined ? x : right - this.#lengthOf(line, style);
    this.#draw(this.#page, line, style, from, this.#y - style.size);
  }

  rule(isStrong: boolean): void {
    this.#page.drawLine({
      start: { x: MARGIN, y: this.#y },
      end: { x: MARGIN + TEXT_WIDTH, y: this.#y },
      thickness: isStrong ? 0.8 : 0.4,
      color: isStrong ? INK : RULE,
    });
  }

  /** On every page, once there are no more. */
  writeFooters(text: string): void {
    const pages = this.#document.getPages();
    const [first = ""] = this.lines(text, FOOTER, TEXT_WIDTH - 70);
    for (const [at, page] of pages.entries()) {
      const number = `page ${at + 1} of ${pages.length}`;
      this.#draw(page, first, FOOTER, 0, MARGIN - 14, FAINT);
      this.#draw(
        page,
        number,
        FOOTER,
        TEXT_WIDTH - this.#lengthOf(number, FOOTER),
        MARGIN - 14,
        FAINT,
      );
    }
  }

  #draw(
    page: PDFPage,
    line: string,
    { font, size }: TextStyle,
    x: number,
    y: number,
    color = INK,
  ): void {
    if (line !== "")
      page.drawText(line, { x: MARGIN + x, y, size, font: this.#faces[font].font, color });
  }

  #lengthOf(line: string, style: TextStyle): number {
    return lengthOf(line, (character) => this.#widthOf(character, style));
  }

  #widthOf(character: string, { font: name, size }: TextStyle): number {
    const { font, widths } = this.#faces[name];
    let width = widths.get(character);
    if (width === undefined) widths.set(character, (width = font.widthOfTextAtSize(character, 1)));
    return width * size;
  }
}
