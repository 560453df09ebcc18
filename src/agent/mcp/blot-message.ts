// Blots the secrets of a connection out of the messages that come over it, before anybody reads them.
import type { Blot } from '../../outbound/blot.ts';

type Container = Record<string, unknown>;

/** Between texts that are looked at together: no secret holds it. */
const SEPARATOR = '\0';

/** Blots every text and name in a message, in place. Answers in how many places. Depth costs no stack. */
export function blotMessage(message: object, blot: Blot): number {
  // Hardly any message holds a secret: one look at all of its texts is cheaper than one at each.
  if (blot(textsOf(message).join(SEPARATOR)).places === 0) return 0;
  let places = 0;
  const blotted = (text: string): string => {
    const { text: left, places: found } = blot(text);
    places += found;
    return left;
  };
  for (const container of containersIn(message)) {
    for (const [name, value] of Object.entries(container)) {
      const told = Array.isArray(container) ? name : blotted(name);
      if (told !== name) delete container[name];
      const text = typeof value === 'string' ? blotted(value) : value;
      if (told !== name || text !== value) keep(container, told, text);
    }
  }
  return places;
}

/** Also under `__proto__`, where a plain assignment keeps nothing. */
function keep(container: Container, name: string, value: unknown): void {
  Object.defineProperty(container, name, { value, writable: true, enumerable: true, configurable: true });
}

function textsOf(message: object): string[] {
  const texts: string[] = [];
  for (const container of containersIn(message)) {
    for (const [name, value] of Object.entries(container)) {
      if (!Array.isArray(container)) texts.push(name);
      if (typeof value === 'string') texts.push(value);
    }
  }
  return texts;
}

/** Every object and list in a value. */
function* containersIn(value: object): Generator<Container> {
  const waiting = [value as Container];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const inner of Object.values(next)) {
      if (typeof inner === 'object' && inner !== null) waiting.push(inner as Container);
    }
    yield next;
  }
}
