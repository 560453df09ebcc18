// Reads a request's query and headers through the shapes of its route, strictly (A8).
import type { IncomingMessage } from 'node:http';
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { FieldsShape } from '../../wire/shapes/composites.ts';
import { followHeaders } from '../../wire/conversations/headers.ts';
import type { Static } from '../../wire/shapes/shape.ts';
import type { Exchange } from './exchange.ts';

/** Reads the query's fields that the shape names. Throws `unprocessable`, also when one is given twice. */
export function readQuery(text: string, shape: FieldsShape): unknown {
  const given: JsonObject = {};
  if (text !== '') {
    for (const [name, value] of new URLSearchParams(text)) {
      if (!Object.hasOwn(shape.byName(), name)) continue;
      if (Object.hasOwn(given, name)) throw unprocessable(name, 'must be given once');
      given[name] = value;
    }
  }
  return shape.read(given, '');
}

/** Reads the headers that the shape names. Throws `unprocessable`. */
export function readHeaders<S extends FieldsShape>({ headers }: IncomingMessage, shape: S): Static<S> {
  const given: JsonObject = {};
  for (const name of Object.keys(shape.byName())) {
    const value = headers[name.toLowerCase()];
    if (value !== undefined) given[name] = value;
  }
  return shape.read(given, '') as Static<S>;
}

/** The journal id after which a rejoined stream continues: the larger of the header and the query, which may lag behind. */
export function positionInRequest(exchange: Exchange<{ readonly after: number }>): number {
  return positionAfter(exchange, exchange.query.after);
}

/** The same, where the query has another name for it. */
export function positionAfter({ req }: Pick<Exchange, 'req'>, after: number): number {
  return Math.max(readHeaders(req, followHeaders)['Last-Event-ID'], after);
}
