// `errand webhooks`: configured requests that tell other systems what happened.
import type { Command } from 'commander';
import { defined } from '../../../domain/defined.ts';
import { OWNER_SCOPES, WEBHOOK_EVENT_TYPES } from '../../../domain/webhooks/webhook.ts';
import { field } from '../../../terminal/columns.ts';
import type { WebhookWire } from '../../../wire/webhooks/webhook.ts';
import { notEmpty } from '../../frame/arguments.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { ENABLED, PART } from '../../frame/list-options.ts';
import { addNoun, type OptionsFor, showing } from '../../frame/noun.ts';
import { choice, converted, flag, type Given, option, perform } from '../../frame/options.ts';
import { DELIVERIES, WEBHOOK, WEBHOOKS } from './columns.ts';
import { filtersOf } from './deliveries.ts';
import { addListen } from './listen.ts';
import { type GivenSecret, hintAtNewSecret, SECRET, secretOf } from './secret.ts';
import { addTrigger, TEST, testWebhook } from './test-events.ts';
import { addVerify } from './verify.ts';
import { IDENTITY, numberId, WEBHOOK_FIELDS } from './webhook-options.ts';

const NEW_WEBHOOK = {
  user: option('--user <user>', "the owner, by name or id, whose sessions' events it sends", notEmpty),
  owner_scope: converted(
    flag('--system', 'send the events of all users (the default on the control socket)'),
    () => 'system' as const,
  ),
  enabled: converted(flag('--disabled', 'create it disabled'), () => false),
  ...WEBHOOK_FIELDS,
  ...SECRET,
};

const FILTERS = {
  owner_scope: choice('--owner-scope <scope>', "only users' own, or only the system's", OWNER_SCOPES),
  enabled: ENABLED,
  ...PART,
} satisfies OptionsFor<'webhooks', 'list'>;

const NEW_SECRET = {
  ...SECRET,
  remove: flag('--remove', 'remove the secret: deliveries are no longer signed'),
};

/** Adds the noun and its verbs. */
export function addWebhooks(program: Command, io: Io): void {
  const webhooks = addNoun<WebhookWire, number>(program, io, {
    name: 'webhooks',
    summary: 'signed requests to other systems',
    description: 'Signed requests that tell other systems what happened.',
    one: { name: '<webhook>', help: 'its id', parse: numberId },
    show: showing(WEBHOOK),
    plural: 'webhooks',
  });
  const { command } = webhooks;

  const create = command.command('create').description('Create a webhook. It is sent what happens from now on.');
  create.argument('<name>', 'a name that says what it is for', notEmpty);
  create.argument('<url>', 'where it sends to', notEmpty);
  perform(create, io, NEW_WEBHOOK, createOne).addHelpText('after', CREATE_HELP);
  webhooks.list('List webhooks, the oldest first.', FILTERS, WEBHOOKS, (client, query) => client.webhooks.list(query));
  webhooks.show('Show one webhook, without its secret.', (client, id) => client.webhooks.get(id));
  webhooks
    .set(ABOUT_SET, { ...IDENTITY, ...WEBHOOK_FIELDS }, (client, id, { project, ...fields }) =>
      client.webhooks.change(id, { ...fields, ...project }),
    )
    .addHelpText('after', '\nExample:\n  errand webhooks set 3 --event session.failed --event session.stopped');
  webhooks.switches(SWITCHES, (client, id, fields) => client.webhooks.change(id, fields));
  webhooks.on('rotate-secret', ABOUT_ROTATE, NEW_SECRET, rotate);
  webhooks.confirmed('delete', 'Delete a webhook with its deliveries permanently. Asks first.', {
    find: (client, id) => client.webhooks.get(id),
    question: ({ id, name }) => `Delete webhook ${id} "${name}" and the record of its deliveries?`,
    work: (client, { id }) => client.webhooks.remove(id),
    show: ({ out }, deleted) => out.record(deleted, [field('id')], deleted),
  });
  webhooks.on('test', ABOUT_TEST, TEST, testWebhook);
  webhooks.on(
    'deliveries',
    'List the deliveries of a webhook, the newest first.',
    filtersOf(io),
    async ({ client, out }, webhook, filters) =>
      out.page(await client().deliveries.list({ webhook_id: webhook, ...filters }), DELIVERIES, 'deliveries'),
  );
  addListen(command, io);
  addTrigger(command, io);
  addVerify(command, io);
}

const ABOUT_SET = 'Change a webhook, from the next event on. Other fields stay as they are.';
const ABOUT_ROTATE = 'Give a webhook a new secret. For 24 hours, the previous one signs as well.';
const ABOUT_TEST = 'Send a test event to a webhook, once. Exits with 8 if it is held back, or not accepted.';
const SWITCHES = {
  enable: 'Enable a webhook. It is sent what happens from now on.',
  disable: 'Disable a webhook. Its pending deliveries are canceled.',
};

const CREATE_HELP = `
Events:
${WEBHOOK_EVENT_TYPES.map((type) => `  ${type}`).join('\n')}

Examples:
  errand webhooks create ledger https://ledger.example/hook --event session.completed --generate-secret
  errand webhooks create ops https://ops.example/hook --user alice --event all --secret-file secret.txt`;

async function createOne(context: Context, name: string, url: string, given: Given<typeof NEW_WEBHOOK>): Promise<void> {
  const { events, project, secretFile: _, generateSecret: _generated, ...fields } = given;
  if (events === undefined) throw new CommandError('usage', 'Give at least one --event, or "--event all".');
  const secret = await secretOf(given);
  const input = { ...fields, name, url, events, ...project, ...defined({ secret: secret?.secret }) };
  const webhook = await context.client().webhooks.create(input);
  showWithSecret(context, webhook, secret);
  context.out.hint(`Test it with: ${context.call} webhooks test ${webhook.id} --event ${events[0]}`);
}

/** A secret that was generated is shown with it, and can't be read later. */
function showWithSecret({ out }: Context, webhook: WebhookWire, given: GivenSecret | undefined): void {
  if (!given?.isNew) return out.record(webhook, WEBHOOK, webhook);
  const document = { ...webhook, secret: given.secret };
  out.record(document, [field<typeof document, 'secret'>('secret'), ...WEBHOOK], document);
  hintAtNewSecret(out);
}

async function rotate(context: Context, id: number, options: Given<typeof NEW_SECRET>): Promise<void> {
  const given = await secretOf(options);
  if ((given === undefined) === (options.remove === undefined))
    throw new CommandError('usage', 'Give one of --secret-file, --generate-secret and --remove.');
  showWithSecret(context, await context.client().webhooks.change(id, { secret: given?.secret ?? null }), given);
  if (given !== undefined) context.out.hint('For 24 hours, deliveries are signed with the previous secret as well.');
}
