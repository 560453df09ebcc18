// What of an endpoint's definition its server may repeat, and nobody else may read.

export interface SecretBearer {
  readonly apiKey: string | null;
  readonly extras: {
    readonly headers: Readonly<Record<string, string>>;
    readonly query: Readonly<Record<string, string>>;
    readonly extraBody: object;
  };
}

/** Shorter values are words and switches, not credentials. */
const MIN_CHARACTERS = 8;
/** Versions of interfaces are named in errors, and no secret. */
const DATED = /^\d{4}-\d{2}-\d{2}/;

/** The key, all headers with their words, and what is long enough in the query and in the body. */
export function secretsOfEndpoint({ apiKey, extras }: SecretBearer): string[] {
  const headers = Object.values(extras.headers).flatMap((value) => [value, ...value.split(' ')]);
  const others = [...Object.values(extras.query), ...textsIn(extras.extraBody)].filter((value) => !DATED.test(value));
  return [
    ...(apiKey === null ? [] : [apiKey]),
    ...[...headers, ...others].filter(({ length }) => length >= MIN_CHARACTERS),
  ];
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
}
