// Adds to each call what the administrator configured for its endpoint.
import type { JsonObject } from '../../domain/json.ts';
import type { ModelGrant } from '../port/grants.ts';

/** How the calls of a grant are modified before they are sent. */
export interface Dress {
  /** The address with the query parameters. */
  readonly address: (address: string) => string;
  /** All header names in lower case; the administrator's take precedence. */
  readonly headers: (headers: Readonly<Record<string, string>>) => Record<string, string>;
  /** The body with additional fields. A field that is null is removed. */
  readonly body: (body: JsonObject) => JsonObject;
}

/** Applies the grant's extras. Without extras, addresses and bodies pass unchanged. */
export function dressOf({ extras, apiKey }: Pick<ModelGrant, 'extras' | 'apiKey'>): Dress {
  const { headers, query, maxTokensField, extraBody } = extras;
  const parameters = Object.entries(query);
  const isPlainBody = maxTokensField === 'max_tokens' && Object.keys(extraBody).length === 0;
  return {
    address: (address) => {
      if (parameters.length === 0) return address;
      const url = new URL(address);
      for (const [name, value] of parameters) url.searchParams.set(name, value);
      return url.href;
    },
    headers: (given) => {
      const all = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
      // The protocol's own header has no key; the real one is among the administrator's.
      if (apiKey === null && 'authorization' in headers) delete all['x-api-key'];
      return { ...all, ...headers };
    },
    body: (body) => {
      if (isPlainBody) return body;
      const { max_tokens: maxTokens, ...rest } = body;
      const all = { ...rest, ...(maxTokens === undefined ? {} : { [maxTokensField]: maxTokens }), ...extraBody };
      return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
    },
  };
}
