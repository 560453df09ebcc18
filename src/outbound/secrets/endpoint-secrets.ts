// What of an endpoint's definition its server may repeat, and nobody else may read.
import { isSecretName } from './blot.ts';
import { makeRedactor, type Redactor, secretsIn } from './redact.ts';

export interface SecretBearer {
  readonly apiKey: string | null;
  readonly extras: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
    readonly extraBody: object;
  };
}

/** Shorter values are words and switches, not credentials, unless their name says otherwise. */
const MIN_CHARACTERS = 8;
/** Versions of interfaces are named in errors, and no secret. */
const DATED = /^\d{4}-\d{2}-\d{2}(?:-[a-z]{1,12})?$/;

/** The key, all headers with their words, and of the query and the body what is long enough, or has the name of a secret. */
export function secretsOfEndpoint({ apiKey, extras }: SecretBearer): string[] {
  const headers = Object.values(extras.headers).flatMap((value) => [value, ...value.split(' ')]);
  const others = [...textsIn(extras.query), ...textsIn(extras.extraBody)].filter(([, value]) => !DATED.test(value));
  return [
    ...(apiKey === null ? [] : [apiKey]),
    ...headers.filter(({ length }) => length >= MIN_CHARACTERS),
    ...others.flatMap(([name, value]) => (isSecretName(name) || value.length >= MIN_CHARACTERS ? [value] : [])),
  ];
}

/** The redactor of all that an endpoint's server says. */
export function redactorOfEndpoint(endpoint: SecretBearer): Redactor {
  return makeRedactor(secretsOfEndpoint(endpoint).flatMap((value) => [value, ...secretsIn(value)]));
}

/** Every text in a value, with the name that is nearest above it. */
function textsIn(value: unknown, name = ''): (readonly [name: string, value: string])[] {
  if (typeof value === 'string') return [[name, value]];
  if (value === null || typeof value !== 'object') return [];
  return Object.entries(value).flatMap(([key, part]) => textsIn(part, Array.isArray(value) ? name : key));
}
