// Where a schema of a newer draft has what stands elsewhere in Draft-07, and the other way round.
import { isJsonObject, type JsonObject, type JsonValue } from '../json.ts';

/** Keywords of newer drafts, and what `inDraft07` puts in their place. */
const RENAMED: readonly (readonly [newer: string, name: string])[] = [
  ['$defs', 'definitions'],
  ['prefixItems', 'items'],
  ['items', 'additionalItems'],
  ['dependentSchemas', 'dependencies'],
  ['dependentRequired', 'dependencies'],
  ['unevaluatedItems', 'additionalItems'],
  ['unevaluatedItems', 'items'],
  ['unevaluatedProperties', 'additionalProperties'],
];
/** What follows them is the name of a schema. */
const MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependencies',
  'dependentSchemas',
]);

/** A pointer into a schema as it was sent, as one into what `inDraft07` makes of it. */
export function pointerInDraft07(sent: JsonObject, pointer: string): string {
  return walk(sent, pointer, (name, at) => {
    // Behind a tuple, they are the rest.
    if (name === 'items') return Array.isArray(at['prefixItems']) ? ['additionalItems', 'items'] : ['items', 'items'];
    return [RENAMED.find(([newer]) => newer === name)?.[1] ?? name, name];
  });
}

/** The place in a schema as it was sent of what has this place now. */
export function pointerAsSent(sent: JsonObject, pointer: string): string {
  return walk(sent, withoutNamedRoot(sent, pointer), (name, at, next) => {
    const isAt = (one: string) => {
      const value = at[one];
      return value !== undefined && (next === undefined || hasStep(value, next));
    };
    const candidates = [...RENAMED.filter(([, now]) => now === name).map(([newer]) => newer), name];
    const found = (isAt(name) ? name : candidates.find(isAt)) ?? name;
    return [found, found];
  });
}

/** Of a root that has become a definition. */
function withoutNamedRoot({ definitions, $defs }: JsonObject, pointer: string): string {
  const [, first, name, ...rest] = pointer.split('/');
  if (first !== 'definitions' || name === undefined || !name.startsWith('root')) return pointer;
  const isSent = [definitions, $defs].some((held) => held !== undefined && hasStep(held, name));
  return isSent ? pointer : rest.map((step) => `/${step}`).join('');
}

const hasStep = (value: JsonValue, step: string): boolean =>
  Array.isArray(value) ? /^\d+$/.test(step) : isJsonObject(value) && Object.hasOwn(value, step);

/** Renames the keywords of a pointer, one after another: each as `[its other name, the name under which to go on]`. */
function walk(
  root: JsonObject,
  pointer: string,
  rename: (name: string, at: JsonObject, next: string | undefined) => readonly [string, string],
): string {
  const steps = pointer.split('/').slice(1);
  const renamed: string[] = [];
  let at: JsonValue | undefined = root;
  for (let index = 0; index < steps.length; index += 1) {
    const step = steps[index]!;
    if (!isJsonObject(at)) return [...renamed, ...steps.slice(index)].map((name) => `/${name}`).join('');
    const next = steps[index + 1];
    const [name, here] = rename(step, at, next === undefined ? undefined : unescaped(next));
    renamed.push(name);
    at = at[here];
    const isInside = next !== undefined && (Array.isArray(at) || MAPS.has(here));
    if (!isInside) continue;
    renamed.push(next);
    at = memberOf(at, unescaped(next));
    index += 1;
  }
  return renamed.map((name) => `/${name}`).join('');
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (Array.isArray(value)) return value[Number(name)];
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');
