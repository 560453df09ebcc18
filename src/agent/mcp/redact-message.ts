// Redacts the secrets of a connection from its messages before anyone reads them.
import type { Redactor } from '../../outbound/secrets/redact.ts';

type Container = Record<string, unknown>;

/** Separates texts that are checked together: no secret contains it. */
const SEPARATOR = '\0';

/** Redacts every string and name in a message, in place. Returns in how many places. Depth uses no stack. */
export function redactMessage(message: object, redact: Redactor): number {
  // Hardly any message contains a secret: checking all of its texts at once is cheaper than checking each.
  if (redact(textsOf(message).join(SEPARATOR)).places === 0) return 0;
  let places = 0;
  const redacted = (text: string): string => {
    const { text: left, places: found } = redact(text);
    places += found;
    return left;
  };
  for (const container of containersIn(message)) {
    for (const [name, value] of Object.entries(container)) {
      const redactedName = Array.isArray(container) ? name : redacted(name);
      if (redactedName !== name) delete container[name];
      const text = typeof value === 'string' ? redacted(value) : value;
      if (redactedName !== name || text !== value) keep(container, redactedName, text);
    }
  }
  return places;
}

/** Also works for `__proto__`, where plain assignment stores nothing. */
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

/** Every object and array in a value. */
function* containersIn(value: object): Generator<Container> {
  const waiting = [value as Container];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const inner of Object.values(next)) {
      if (typeof inner === 'object' && inner !== null) waiting.push(inner as Container);
    }
    yield next;
  }
}
