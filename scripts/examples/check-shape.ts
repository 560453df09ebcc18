// Whether an example has the shape that its reader expects, by the schemas of `schemas/`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { parseAllDocuments } from 'yaml';

export type ExampleKind = 'compose' | 'kubernetes' | 'traefik';

/** One document of a file. */
export type Part = Readonly<Record<string, unknown>>;

export interface Example {
  readonly parts: readonly Part[];
  /** What is wrong, each on a line. */
  readonly problems: readonly string[];
}

interface Kinds {
  /** Definitions by what a document says of itself, such as `apps/v1 StatefulSet`. */
  readonly kinds: Readonly<Record<string, string>>;
  readonly definitions: object;
}

const schema = (kind: ExampleKind) =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`schemas/${kind}.json`, import.meta.url)), 'utf8')) as object;

const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false });
const compose = ajv.compile(schema('compose'));
const traefik = ajv.compile(schema('traefik'));
const kubernetes = schema('kubernetes') as Kinds;

/** Reads a file as its reader does: Kubernetes by YAML 1.1, where `0400` is an octal number, and Compose with merges. */
export function checkShape(kind: ExampleKind, text: string): Example {
  const documents = parseAllDocuments(text, { version: kind === 'kubernetes' ? '1.1' : '1.2', merge: true });
  const parts = documents.map((document) => document.toJS() as Part);
  const problems = [
    ...documents.flatMap(({ errors, warnings }) => [...errors, ...warnings].map(({ message }) => message)),
    ...parts.flatMap((part) => problemsOf(part, validatorOf(kind, part))),
  ];
  return { parts, problems };
}

function validatorOf(kind: ExampleKind, part: Part): ValidateFunction | string {
  if (kind !== 'kubernetes') return kind === 'compose' ? compose : traefik;
  const name = `${String(part['apiVersion'])} ${String(part['kind'])}`;
  const definition = kubernetes.kinds[name];
  if (definition === undefined) return `no schema for ${name}`;
  const id = `#/definitions/${definition}`;
  return ajv.getSchema(name) ?? ajv.compile({ $id: name, $ref: id, definitions: kubernetes.definitions });
}

function problemsOf(part: Part, validator: ValidateFunction | string): string[] {
  if (typeof validator === 'string') return [validator];
  return validator(part) ? [] : (validator.errors ?? []).map(wordsOf);
}

function wordsOf({ instancePath, message, params }: ErrorObject): string {
  const field: unknown = params['additionalProperty'];
  return `${instancePath || '/'} ${message}${typeof field === 'string' ? `: ${field}` : ''}`;
}
