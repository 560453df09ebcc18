// A thread that only compiles callers' schemas, so that a hostile one can be ended with it.
import { parentPort } from 'node:worker_threads';
import type { JsonObject } from '../../domain/json.ts';
import { type Numbered, READY } from '../../workers/resident.ts';
import { withinCpuTime } from '../../workers/cpu-time.ts';
import { findSchemaFault } from './result-schema.ts';
import { type SchemaFault, TOO_COMPLEX } from './schema-fault.ts';

/** The largest schema within the limits takes a tenth of that. */
const MAX_CPU_MS = 2_000;

/** The thread's reply to a schema. */
export interface SchemaVerdict {
  readonly fault: SchemaFault | null;
}

function check(schema: JsonObject): SchemaFault | null {
  try {
    return withinCpuTime(MAX_CPU_MS, () => findSchemaFault(schema));
  } catch {
    return TOO_COMPLEX;
  }
}

// The first compile warms up what all later ones use; a schema's time starts after it.
findSchemaFault({ type: 'object', properties: { a: { pattern: '^a$' } } });
parentPort?.on('message', ({ id, message }: Numbered<JsonObject>) => {
  parentPort?.postMessage({ id, message: { fault: check(message) } } satisfies Numbered<SchemaVerdict>, []);
});
parentPort?.postMessage(READY, []);
