// The description of the interface, made of the table of routes.
import { describeRoutes } from '../../src/http/openapi.ts';
import { makeRoutes, type RouteParts } from '../../src/http/routes.ts';
import { VERSION } from '../../src/version.ts';

/** An OpenAPI 3.1 document as JSON text: what the daemon serves at `/openapi.json`. */
export function describeInterface(): string {
  // Describes the table; no handler is called.
  const nothing = {
    operations: {},
    conversations: {},
    officeStreams: {},
    runs: {},
    responses: {},
  } as unknown as RouteParts;
  return `${JSON.stringify(describeRoutes(makeRoutes(nothing), VERSION), null, 2)}\n`;
}
