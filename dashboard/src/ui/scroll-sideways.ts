/** Moves a line of names until one of them is in its middle. The page itself stays where it is, other than by `scrollIntoView`. */
export function scrollSideways(list: Element, item: Element): void {
  const [line, name] = [list.getBoundingClientRect(), item.getBoundingClientRect()];
  list.scrollLeft += name.left + name.width / 2 - (line.left + line.width / 2);
}
