// `errand runs export`: what the model was asked in a run, to ask it again elsewhere.
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Context } from '../../frame/context.ts';
import { saveFile } from '../../support/save-file.ts';

export const EXPORT_HELP = `
The document has the conversation in the form that most model servers take, with its images and the texts of its documents,
and for each step how many messages, which instructions and which tools it was asked with. It says itself what is exact and what
isn't. Secrets are blotted, but the conversation is in it: treat it as one.

Examples:
  errand runs export 0190f6a0
  errand runs export 0190f6a0 --to - | jq '.requests'`;

/** Writes the export of a run. */
export async function exportRun(context: Context, id: string, { to }: { readonly to?: string }): Promise<void> {
  const { io, out, locations, signal } = context;
  const { makeBlot } = await import('../../../outbound/secrets/blot.ts');
  const { knownSecrets } = await import('../../support/known-secrets.ts');
  const document = await context.client().runs.export(id);
  // The daemon has blotted what it holds. Whoever calls may hold more, such as variables.
  const blot = makeBlot(knownSecrets(locations, io.environment));
  // Strings are blotted one by one, so that what is left is JSON. Bytes of images are no text.
  const text = `${JSON.stringify(
    document,
    (name, value: unknown) => (typeof value === 'string' && name !== 'base64' ? blot(value) : value),
    2,
  )}\n`;
  if (to === '-') {
    out.text(text);
    return;
  }
  const path = resolve(to ?? `errand-run-${document.run.run_id}.json`);
  await saveFile(path, (stream) => pipeline(Readable.from([text]), stream, { signal }));
  out.hint(`Written: ${path}. It has the conversation: treat it as one.`);
}
