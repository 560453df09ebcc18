// Checks of models.yaml that its schema can't make: names that refer to others, and what is missing.
import { isJsonObject, type JsonObject, type JsonValue } from '../../domain/json.ts';
import { didYouMean } from '../reading/nearest-name.ts';
import type { Problem } from '../reading/problem.ts';
import { MAX_NAMES } from '../reading/schema.ts';
import type { YamlFile } from '../reading/yaml-file.ts';

/** Of a model that names none; tokens. */
export const DEFAULT_CONTEXT_WINDOW = 8192;
/** In an API key, this stands for "the account's model"; a model of this name could never be chosen (B2). */
const AUTOMATIC = 'auto';

/** A section of the file; an empty one where it is missing or something else. */
export const mapOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});
const namesOf = (file: JsonObject, key: string) => Object.keys(mapOf(file[key]));
/** The entries of a section, up to the limit of names. */
export const entriesOf = (file: JsonObject, key: string) =>
  Object.entries(mapOf(file[key]))
    .slice(0, MAX_NAMES)
    .map(([name, value]) => [name, mapOf(value)] as const);

/** Collects problems at their places. A file that does not match the schema is reported elsewhere, and tolerated here. */
interface Check {
  readonly value: JsonObject;
  readonly add: (path: readonly string[], message: string, place?: 'key' | 'value') => void;
}

function checkEndpoints({ value, add }: Check): void {
  for (const [name, endpoint] of entriesOf(value, 'endpoints')) {
    const path = ['endpoints', name];
    const isOffline = endpoint['kind'] === 'offline';
    if (isOffline && 'base_url' in endpoint) add([...path, 'base_url'], 'must be removed: kind offline has no address');
    if (isOffline && 'structured' in endpoint)
      add([...path, 'structured'], 'must be removed: kind offline does not use it');
    const isRemote = endpoint['kind'] === 'openai' || endpoint['kind'] === 'anthropic';
    if (isRemote && !('base_url' in endpoint)) add([...path, 'base_url'], 'is missing', 'key');
  }
}

/** Checks a value that must be one of the names under another key. */
function checkReference(check: Check, path: readonly string[], name: JsonValue | undefined, among: string): void {
  if (typeof name !== 'string' || name.trim() === '') return;
  const known = namesOf(check.value, among);
  if (known.includes(name)) return;
  check.add(path, `refers to "${name}", which is not among the ${among}${didYouMean(name, known)}`);
}

function checkModels(check: Check): void {
  for (const [name, model] of entriesOf(check.value, 'models')) {
    const path = ['models', name];
    if (name === AUTOMATIC) check.add(path, 'must have another name: "auto" stands for the account\'s model', 'key');
    checkReference(check, [...path, 'endpoint'], model['endpoint'], 'endpoints');
    const window = model['context_window'] ?? DEFAULT_CONTEXT_WINDOW;
    const output = model['max_output_tokens'];
    if (typeof window === 'number' && typeof output === 'number' && output > window) {
      check.add([...path, 'max_output_tokens'], `must be at most the context window, ${window}`);
    }
  }
}

function checkScenarios(check: Check): void {
  for (const [name, scenario] of entriesOf(check.value, 'scenarios')) {
    checkReference(check, ['scenarios', name, 'model'], scenario['model'], 'models');
  }
  const chosen = check.value['default_scenario'];
  checkReference(check, ['default_scenario'], chosen, 'scenarios');
  const count = namesOf(check.value, 'scenarios').length;
  if (count > 1 && chosen === undefined)
    check.add(['default_scenario'], 'is missing: there are several scenarios', 'key');
}

function checkCompleteness({ value, add }: Check): void {
  for (const key of ['endpoints', 'models', 'scenarios']) {
    const isThere = isJsonObject(value[key]) || value[key] === undefined || value[key] === null;
    if (isThere && namesOf(value, key).length === 0) add([key], 'must have at least one entry', 'key');
  }
}

/** What is wrong with references, and what is missing. */
export function crossProblems(file: YamlFile): Problem[] {
  const problems: Problem[] = [];
  const add: Check['add'] = (path, message, place) => problems.push(file.problemAt(path, message, place));
  for (const check of [checkCompleteness, checkEndpoints, checkModels, checkScenarios]) {
    check({ value: file.value, add });
  }
  return problems;
}
