// `errand runs export`: what the model was asked in a run, to ask it again elsewhere.
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { defaultInstructions } from '../../../agent/loop/prompt.ts';
import type { Client } from '../../../client/client.ts';
import { parseTarget } from '../../../domain/capabilities/target.ts';
import type { RunWire } from '../../../wire/sessions/run.ts';
import type { StatusWire } from '../../../wire/status.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { saveFile } from '../../support/save-file.ts';

export const EXPORT_HELP = `
The document has the conversation in the form that most model servers take, and for each step how many messages it was asked with.
It says itself what is exact and what isn't. Secrets are blotted, but the conversation is in it: treat it as one.

Examples:
  errand runs export 0190f6a0
  errand runs export 0190f6a0 --to - | jq '.requests'`;

/** Runs of a session that are looked through for the place of one. */
const PAGE = 500;

/** Writes the export of a run. */
export async function exportRun(context: Context, id: string, { to }: { readonly to?: string }): Promise<void> {
  const { io, out, places, signal } = context;
  const client = context.client();
  const { makeRunExport } = await import('../../support/run-export.ts');
  const { makeBlot } = await import('../../../outbound/blot.ts');
  const { knownSecrets } = await import('../../support/known-secrets.ts');
  const timeline = await client.runs.timeline(id);
  const { run } = timeline;
  const document = makeRunExport({
    run,
    timeline,
    history: await client.sessions.messages(run.session_id),
    place: await placeOf(client, run),
    instructions: await instructionsOf(client, run),
    model: await modelOf(client, run),
  });
  const blot = makeBlot(knownSecrets(places, io.environment));
  // Strings are blotted one by one, so that what is left is JSON.
  const text = `${JSON.stringify(document, (_, value: unknown) => (typeof value === 'string' ? blot(value) : value), 2)}\n`;
  if (to === '-') {
    out.text(text);
    return;
  }
  const path = resolve(to ?? `errand-run-${run.run_id}.json`);
  await saveFile(path, (stream) => pipeline(Readable.from([text]), stream, { signal }));
  out.hint(`Written: ${path}. It has the conversation: treat it as one.`);
}

/** How many runs of its session came before it: messages of users are in their order. */
async function placeOf({ runs }: Client, { run_id: id, session_id: session }: RunWire): Promise<number> {
  const { items, total } = await runs.list({ session, limit: PAGE });
  const at = items.findIndex((one) => one.run_id === id);
  if (at === -1) throw new CommandError('notFound', `The run is not among the newest ${PAGE} of its session.`);
  return total - 1 - at;
}

/** Those of the agent that its key names today; null when it is gone, or a team. */
async function instructionsOf({ definitions, ...client }: Client, { key_id: key }: RunWire): Promise<string | null> {
  if (key === null) return defaultInstructions();
  const target = parseTarget((await client.keys.get(key)).target);
  if (target?.kind === 'free') return defaultInstructions();
  if (target?.kind !== 'expert') return null;
  const expert = await definitions.get('experts', target.name).catch(() => null);
  return expert?.instructions ?? null;
}

async function modelOf(client: Client, { model }: RunWire): Promise<StatusWire['models'][number] | null> {
  return (await client.status()).models.find(({ name }) => name === model) ?? null;
}
