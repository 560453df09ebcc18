// `errand webhooks`: configured requests that tell other systems what happened.
import { Argument, type Command, Option } from 'commander';
import { OWNER_SCOPES, type OwnerScope, WEBHOOK_EVENT_TYPES } from '../../../domain/webhooks/webhook.ts';
import type { WebhookWire } from '../../../wire/webhooks/webhook.ts';
import { notEmpty, ROW_LIMIT, ROW_OFFSET } from '../../frame/arguments.ts';
import { act, type Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { column, field } from '../../../terminal/columns.ts';
import { confirm } from '../../frame/standard-input.ts';
import { WEBHOOK, WEBHOOKS } from './columns.ts';
import { addDeliveriesOfWebhook } from './deliveries.ts';
import { addSecretOptions, type GivenSecret, hintAtNewSecret, secretOf, type SecretOptions } from './secret.ts';
import { addListen } from './listen.ts';
import { addTest, addTrigger } from './test-events.ts';
import { addVerify } from './verify.ts';
import { addFieldOptions, addIdentityOptions, type FieldOptions, fieldsOf, numberId } from './webhook-options.ts';

const ID = new Argument('<webhook>', 'its id').argParser(numberId);

/** Adds the noun and its verbs. */
export function addWebhooks(program: Command, io: Io): void {
  const webhooks = program
    .command('webhooks')
    .summary('signed requests to other systems')
    .description('Signed requests that tell other systems what happened.');

  addCreate(webhooks, io);
  addReads(webhooks, io);
  addChanges(webhooks, io);
  addTest(webhooks, io);
  addDeliveriesOfWebhook(webhooks, io);
  addListen(webhooks, io);
  addTrigger(webhooks, io);
  addVerify(webhooks, io);
}

interface CreateOptions extends FieldOptions, SecretOptions {
  readonly user?: string;
  readonly system?: true;
  readonly disabled?: true;
}

function addCreate(webhooks: Command, io: Io): void {
  const create = webhooks
    .command('create')
    .argument('<name>', 'a name that says what it is for', notEmpty)
    .argument('<url>', 'where it sends to', notEmpty)
    .description('Create a webhook. It is sent what happens from now on.')
    .option('--user <user>', "the owner, by name or id, whose sessions' events it sends", notEmpty)
    .option('--system', 'send the events of all users (the default on the control socket)')
    .option('--disabled', 'create it disabled');
  addSecretOptions(addFieldOptions(create)).addHelpText('after', CREATE_HELP).action(act(io, createOne));
}

const CREATE_HELP = `
Events:
${WEBHOOK_EVENT_TYPES.map((type) => `  ${type}`).join('\n')}

Examples:
  errand webhooks create ledger https://ledger.example/hook --event session.completed --generate-secret
  errand webhooks create ops https://ops.example/hook --user alice --event all --secret-file secret.txt`;

async function createOne(context: Context, name: string, url: string, options: CreateOptions): Promise<void> {
  const { user, system, disabled, event } = options;
  if (event === undefined) throw new CommandError('usage', 'Give at least one --event, or "--event all".');
  const given = await secretOf(options);
  const webhook = await context.client().webhooks.create({
    ...fieldsOf(options),
    name,
    url,
    events: event,
    ...(given && { secret: given.secret }),
    ...(user !== undefined && { user }),
    ...(system && { owner_scope: 'system' }),
    ...(disabled && { enabled: false }),
  });
  showWithSecret(context, webhook, given);
  context.out.hint(`Test it with: ${context.call} webhooks test ${webhook.id} --event ${event[0]}`);
}

/** A secret that was generated is shown with it, and can't be read later. */
function showWithSecret({ out }: Context, webhook: WebhookWire, given: GivenSecret | undefined): void {
  if (!given?.isNew) return out.record(webhook, WEBHOOK, webhook);
  const document = { ...webhook, secret: given.secret };
  out.record(document, [field<typeof document, 'secret'>('secret'), ...WEBHOOK], document);
  hintAtNewSecret(out);
}

interface ListOptions {
  readonly ownerScope?: OwnerScope;
  readonly enabled?: true;
  readonly disabled?: true;
  readonly limit?: number;
  readonly offset?: number;
}

function addReads(webhooks: Command, io: Io): void {
  webhooks
    .command('list')
    .description('List webhooks, the oldest first.')
    .addOption(new Option('--owner-scope <scope>', "only users' own, or only the system's").choices(OWNER_SCOPES))
    .option('--enabled', 'only those that are enabled')
    .addOption(new Option('--disabled', 'only those that are disabled').conflicts('enabled'))
    .addOption(ROW_LIMIT)
    .addOption(ROW_OFFSET)
    .action(act(io, list));

  webhooks
    .command('show')
    .addArgument(ID)
    .description('Show one webhook, without its secret.')
    .action(act(io, async (context, id: number) => show(context, await context.client().webhooks.get(id))));
}

async function list({ client, out }: Context, options: ListOptions): Promise<void> {
  const { ownerScope, enabled, disabled, limit, offset } = options;
  const isEnabled = (enabled ?? disabled) === undefined ? undefined : enabled === true;
  const found = await client().webhooks.list({ owner_scope: ownerScope, enabled: isEnabled, limit, offset });
  out.page(found, WEBHOOKS, 'webhooks');
}

function show({ out }: Context, webhook: WebhookWire): void {
  out.record(webhook, WEBHOOK, webhook);
}

function addChanges(webhooks: Command, io: Io): void {
  addFieldOptions(addIdentityOptions(webhooks.command('set').addArgument(ID)))
    .description('Change a webhook, from the next event on. Other fields stay as they are.')
    .addHelpText('after', '\nExample:\n  errand webhooks set 3 --event session.failed --event session.stopped')
    .action(act(io, set));

  for (const [verb, enabled, description] of SWITCHES) {
    webhooks
      .command(verb)
      .addArgument(ID)
      .description(description)
      .action(
        act(io, async (context, id: number) => show(context, await context.client().webhooks.change(id, { enabled }))),
      );
  }

  addSecretOptions(webhooks.command('rotate-secret').addArgument(ID))
    .description('Give a webhook a new secret. For 24 hours, the previous one signs as well.')
    .option('--remove', 'remove the secret: deliveries are no longer signed')
    .action(act(io, rotate));

  webhooks
    .command('delete')
    .addArgument(ID)
    .description('Delete a webhook with its deliveries permanently. Asks first.')
    .action(act(io, remove));
}

const SWITCHES = [
  ['enable', true, 'Enable a webhook. It is sent what happens from now on.'],
  ['disable', false, 'Disable a webhook. Its pending deliveries are canceled.'],
] as const;

async function set(context: Context, id: number, options: FieldOptions): Promise<void> {
  const fields = fieldsOf(options);
  if (Object.keys(fields).length === 0) throw new CommandError('usage', 'Give at least one field to change.');
  show(context, await context.client().webhooks.change(id, fields));
}

async function rotate(context: Context, id: number, options: SecretOptions & { readonly remove?: true }) {
  const given = await secretOf(options);
  if ((given === undefined) === (options.remove === undefined))
    throw new CommandError('usage', 'Give one of --secret-file, --generate-secret and --remove.');
  showWithSecret(context, await context.client().webhooks.change(id, { secret: given?.secret ?? null }), given);
  if (given !== undefined) context.out.hint('For 24 hours, deliveries are signed with the previous secret as well.');
}

async function remove(context: Context, id: number): Promise<void> {
  const { webhooks } = context.client();
  const webhook = await webhooks.get(id);
  await confirm(context, async () => `Delete webhook ${id} "${webhook.name}" and the record of its deliveries?`);
  const deleted = await webhooks.remove(id);
  context.out.record(deleted, [column('id', (row) => row.id)], deleted);
}
