// A list of elements that follows a list of items: each item keeps its element, and those that stay in order are not moved.
import type { Child } from './element.ts';

/** What draws one item. `draw` is given the item whenever the list is drawn. */
export interface ItemView<T> {
  readonly element: Element;
  readonly draw: (item: T) => void;
}

export interface KeyedList<T> {
  readonly draw: (items: readonly T[]) => void;
  readonly elementOf: (key: string) => Element | undefined;
}

/** Makes the list inside of an element that has nothing else. */
export function keyedList<T>(
  parent: Element,
  keyOf: (item: T) => string,
  viewOf: (item: T) => ItemView<T>,
): KeyedList<T> {
  let views = new Map<string, ItemView<T>>();
  return {
    elementOf: (key) => views.get(key)?.element,
    draw(items) {
      const focused = document.activeElement;
      const next = new Map<string, ItemView<T>>();
      for (const item of items) {
        const key = keyOf(item);
        const view = views.get(key) ?? viewOf(item);
        view.draw(item);
        next.set(key, view);
      }
      for (const [key, { element }] of views) if (!next.has(key)) element.remove();
      views = next;
      arrange(parent, [...next.values()]);
      // An element that is moved loses it.
      if (focused !== null && focused !== document.activeElement && parent.contains(focused)) {
        (focused as HTMLElement).focus({ preventScroll: true });
      }
    },
  };
}

function arrange(parent: Element, views: readonly { readonly element: Element }[]): void {
  let at: Element | null = parent.firstElementChild;
  for (const { element } of views) {
    if (element === at) at = at.nextElementSibling;
    else if (at !== null && at.nextElementSibling === element) {
      // One was taken away from here to further down: it goes there when its turn comes.
      parent.append(at);
      at = element.nextElementSibling;
    } else parent.insertBefore(element, at);
  }
}

/** Replaces what an element contains, unless it is made of the same. */
export function redrawOn(element: Element): (mark: unknown, make: () => readonly Child[]) => void {
  let drawn: unknown = {};
  return (mark, make) => {
    if (mark === drawn) return;
    drawn = mark;
    element.replaceChildren(...make());
  };
}
