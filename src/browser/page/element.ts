// The one way to make an element. Text becomes text nodes, never markup, and no attribute is one that runs or styles.

export type Child = Node | string;

/** Attributes by name; `true` for one without a value, undefined for none. */
export type Attributes = Readonly<Record<string, string | true | undefined>>;

/** Makes an element. */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

/** Makes an element of a drawing. */
export function svg<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[T] {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  element.append(...children);
  return element;
}

/** Sets an attribute where it differs; undefined removes it. */
export function setAttribute(element: Element, name: string, value: string | true | undefined): void {
  if (value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== (value === true ? '' : value)) {
    element.setAttribute(name, value === true ? '' : value);
  }
}

/** Sets the text of an element that has nothing else, where it differs. */
export function setText(element: Element, text: string): void {
  const only = element.firstChild;
  if (only === null) {
    if (text !== '') element.append(text);
  } else if (only.nodeType === Node.TEXT_NODE && only.nextSibling === null) {
    if ((only as Text).data !== text) (only as Text).data = text;
  } else element.replaceChildren(text);
}

/** Sets the classes of an element, where they differ. */
export function setClass(element: Element, classes: string): void {
  if (element.getAttribute('class') !== classes) element.setAttribute('class', classes);
}

/** Shows or hides an element. */
export function setShown(element: HTMLElement, isShown: boolean): void {
  if (element.hidden === isShown) element.hidden = !isShown;
}
