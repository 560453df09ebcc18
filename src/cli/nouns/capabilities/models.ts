// `errand models`: the models that agents use, and how each of them answers.
import type { Command } from 'commander';
import type { ModelCheckWire, ModelWire } from '../../../wire/capabilities/model.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import { FINDINGS } from '../../terminal/findings.ts';
import type { Io } from '../../frame/io.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';

const COLUMNS: readonly Column<ModelWire>[] = [
  field('name', 9),
  field('endpoint', 7),
  field('kind', 3),
  field('model', 6),
  field('context_window', 4),
  field('max_output_tokens', 2),
  field('images', 2),
  column('scenarios', ({ scenarios }) => scenarios.join(', '), 3),
  field('default', 8),
];

/** Adds the noun and its verbs. */
export function addModels(program: Command, io: Io): void {
  const models = program
    .command('models')
    .summary('the models that agents use')
    .description('Models: models.yaml in the config directory.');

  models
    .command('list')
    .description('List the models in effect.')
    .action(
      act(io, async ({ client, out }) => {
        const list = await client().models.list();
        out.list(list.items, COLUMNS, list);
      }),
    );

  models
    .command('check [name]')
    .summary('test a model, or all of them')
    .description(ABOUT_CHECK)
    .option('--no-context', 'skip the test that fills the context window, which is slow on a small machine')
    .addHelpText('after', '\nExample:\n  errand models check qwen --no-context')
    .action(act(io, check));
}

const ABOUT_CHECK =
  'Test a model at its real endpoint: its name, a streamed answer, token counts, a tool call, a reply to a schema, and a prompt ' +
  'that fills most of its context window. Exits with 8 if a test fails; warnings do not count.';

async function check(
  context: Context,
  name: string | undefined,
  { context: fills }: { readonly context: boolean },
): Promise<void> {
  const { out } = context;
  const client = context.client();
  const names = name === undefined ? (await client.models.list()).items.map((model) => model.name) : [name];
  const checks: ModelCheckWire[] = [];
  for (const each of names) {
    if (out.format !== 'json') out.hint(`Checking ${each} …`);
    checks.push(await client.models.check(each, { context: fills }));
  }
  const [first] = checks;
  const document = name === undefined ? { items: checks, total: checks.length } : first;
  const rows = checks.flatMap((one) => one.findings.map((finding) => ({ name: one.name, ...finding })));
  out.list(rows, FINDINGS, document);
  if (out.format !== 'json') for (const line of checks.flatMap(speedOf)) out.hint(line);
  const failed = checks.filter(({ ok }) => !ok).map((one) => one.name);
  if (failed.length > 0) throw new CommandError('checkFailed', `Not usable: ${failed.join(', ')}.`);
}

function speedOf({ name, first_token_ms: firstMs, tokens_per_second: speed }: ModelCheckWire): string[] {
  if (firstMs === null) return [];
  const rate = speed === null ? '' : `, then ${speed} tokens per second`;
  return [`${name}: first words after ${firstMs} ms${rate}.`];
}
