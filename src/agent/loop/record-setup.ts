// Records what a run's model is asked with, so that its requests can be made again.
import { createHash } from 'node:crypto';
import { firstBytes } from '../../domain/excerpt.ts';
import { remember } from '../../domain/remember.ts';
import type { RunSetup } from '../../domain/sessions/run-setup.ts';
import type { ModelTool } from '../models/message.ts';
import { definitionText } from '../tools/definition-text.ts';

/** Of the instructions, and of all tools together. A definition that has no room is left out whole, but for its name. */
const MAX_BYTES = 131_072;
const MAX_NAME_BYTES = 100;
const MAX_NAMES = 500;

/**
 * Makes what returns the setup to record with a step; null where that of the step before holds. `differs`: the instructions of a
 * step without tools; null for one with the run's own.
 */
export function recordSetups(
  instructions: string,
  tools: readonly ModelTool[],
): (differs: { readonly instructions: string } | null) => RunSetup | null {
  let last: { readonly instructions: string } | null | undefined;
  return (differs) => {
    if (differs === last) return null;
    last = differs;
    return differs === null ? recordSetup(instructions, tools) : recordSetup(differs.instructions, []);
  };
}

/** The last one: nearly all runs of an installation have the same. */
let latest: { readonly instructions: string; readonly definitions: string; readonly setup: RunSetup } | undefined;

/** All definitions of a list of tools, in a text by which lists can be compared. */
const definitionsOf = remember((tools: readonly ModelTool[]) => tools.map(definitionText).join(','));

/** The same instructions and tools give the same text. */
export function recordSetup(instructions: string, tools: readonly ModelTool[]): RunSetup {
  const definitions = definitionsOf(tools);
  if (latest?.instructions !== instructions || latest.definitions !== definitions)
    latest = { instructions, definitions, setup: writeSetup(instructions, tools) };
  return latest.setup;
}

function writeSetup(instructions: string, tools: readonly ModelTool[]): RunSetup {
  const recorded: string[] = [];
  const omitted: string[] = [];
  let left = MAX_BYTES;
  for (const tool of tools) {
    const definition = definitionText(tool);
    const bytes = Buffer.byteLength(definition);
    if (bytes <= left) {
      recorded.push(definition);
      left -= bytes;
    } else if (omitted.length < MAX_NAMES) omitted.push(firstBytes(tool.name, MAX_NAME_BYTES));
  }
  const system = JSON.stringify(firstBytes(instructions, MAX_BYTES));
  const text = `{"system":${system},"tools":[${recorded.join(',')}],"omitted":${JSON.stringify(omitted)}}`;
  const encoded = Buffer.from(text);
  const bytes = new Uint8Array(new SharedArrayBuffer(encoded.length));
  bytes.set(encoded);
  return { sha256: createHash('sha256').update(encoded).digest('hex'), bytes };
}
