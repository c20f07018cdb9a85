import { lastOf, type Plot } from "./aligned-of.ts";
import { inUnit, type Unit } from "./units.ts";

/** The figures beside the names of curves: at the cursor, else the last. A pointer moves too often for the page to be drawn anew each time. */
export class LegendValues {
  readonly #places = new Map<number, HTMLElement>();
  #plot: Plot = { places: [], curves: [] };
  #unit: Unit = "number";
  #at: HTMLElement | null = null;
  #sayAt: (place: number) => string = String;

  /** Where the figure of a curve is written. */
  hold(curve: number, element: HTMLElement | null): void {
    if (element === null) this.#places.delete(curve);
    else this.#places.set(curve, element);
  }

  /** Where it is written of which place the figures are. */
  holdPlace(element: HTMLElement | null): void {
    this.#at = element;
  }

  set(plot: Plot, unit: Unit, sayAt: (place: number) => string): void {
    this.#plot = plot;
    this.#unit = unit;
    this.#sayAt = sayAt;
  }

  /** @param index of the place under the cursor; null: there is none */
  show(index: number | null): void {
    for (const [at, element] of this.#places) {
      const curve = this.#plot.curves[at];
      if (curve === undefined) continue;
      const value = index === null ? lastOf(this.#plot, curve)?.value : curve.values[index];
      element.textContent = value === undefined || value === null ? "–" : inUnit(this.#unit, value);
    }
    if (this.#at !== null)
      this.#at.textContent =
        index === null ? "last" : this.#sayAt(this.#plot.places[index] ?? Number.NaN);
  }
}
