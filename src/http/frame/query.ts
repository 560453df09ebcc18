// Reads a request's query through the shape of its route, strictly (A8).
import { unprocessable } from '../../domain/errors.ts';
import type { JsonObject } from '../../domain/json.ts';
import { eventId } from '../../wire/query.ts';
import type { ObjectShape } from '../../wire/composites.ts';
import type { Exchange } from './exchange.ts';

/** What a query says, of the fields that the shape names. Throws `unprocessable`, also when one is given twice. */
export function readQuery(text: string, shape: ObjectShape): unknown {
  const given: JsonObject = {};
  if (text !== '') {
    for (const [name, value] of new URLSearchParams(text)) {
      if (!Object.hasOwn(shape.fields, name)) continue;
      if (Object.hasOwn(given, name)) throw unprocessable(name, 'must be given once');
      given[name] = value;
    }
  }
  return shape.read(given, '');
}

/**
 * The journal id after which a rejoined stream continues: the larger of the header and the query, which may lag behind. An
 * empty `Last-Event-ID` says that no event has come yet, as in browsers; an empty `after` is a mistake.
 */
export function positionInRequest({ req, query }: Exchange<{ readonly after: number }>): number {
  const header = req.headers['last-event-id'];
  return Math.max(eventId.read(header === '' ? undefined : header, 'Last-Event-ID'), query.after);
}
