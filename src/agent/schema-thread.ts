// A thread that does nothing but compile callers' schemas, so that a hostile one can be ended with it.
import { parentPort } from 'node:worker_threads';
import type { JsonObject } from '../domain/json.ts';
import { findSchemaFault } from './result-schema.ts';

// The first compile warms up what all later ones use; the deadline of a schema begins after it.
findSchemaFault({ type: 'object', properties: { a: { pattern: '^a$' } } });
parentPort?.on('message', (schema: JsonObject) => parentPort?.postMessage({ fault: findSchemaFault(schema) }, []));
parentPort?.postMessage('ready', []);
