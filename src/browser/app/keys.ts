// Names for keys, the same as on a terminal: `up` for the arrow and for `k`.

const NAMES: Readonly<Record<string, string>> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
  k: 'up',
  j: 'down',
  h: 'left',
  l: 'right',
  g: 'first',
  G: 'last',
  Enter: 'enter',
  Escape: 'escape',
};

const TYPED_INTO = 'input, select, textarea, [contenteditable]';
/** Elements that a key works on by itself. */
const PRESSED = 'a, button, summary, input, select, textarea, [tabindex="0"]';
const OWN_KEYS: ReadonlySet<string> = new Set(['Enter', 'ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight']);

/** The name of a key that means something to the view; undefined where it means something to the browser. */
export function keyOf({ key, ctrlKey, metaKey, altKey, target, isComposing }: KeyboardEvent): string | undefined {
  if (ctrlKey || metaKey || altKey || isComposing) return undefined;
  const at = target instanceof Element ? target : null;
  if (at?.closest(TYPED_INTO) != null && key !== 'Escape') return undefined;
  if (OWN_KEYS.has(key) && at?.closest(PRESSED) != null && at.closest('[data-row]') === null) return undefined;
  return NAMES[key] ?? (key.length === 1 && key !== ' ' ? key : undefined);
}
