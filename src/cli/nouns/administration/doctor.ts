// `errand doctor`: examines the whole installation, and says what mends it.
import type { Command } from 'commander';
import { isClientFailure } from '../../../client/transport/client-error.ts';
import { messageOf } from '../../../domain/errors.ts';
import type { DaemonState } from '../../../doctor/subject.ts';
import {
  type DiagnosisWire,
  type ExaminationWire,
  type ExaminationRequestWire,
  examination,
} from '../../../wire/doctor.ts';
import type { Context } from '../../frame/context.ts';
import { CommandError } from '../../frame/exit-codes.ts';
import type { Io } from '../../frame/io.ts';
import { nodeIn, type NodeOfOutput, wordsOfNode } from '../../frame/node-of.ts';
import { flag, type Given, perform } from '../../frame/options.ts';
import { type Column, column, field, state } from '../../../terminal/columns.ts';

const CHECKS: readonly Column<DiagnosisWire>[] = [
  column('no', ({ number }) => number, 9),
  field('id', 9),
  state('state', (check) => check.state, 9),
  { ...field<DiagnosisWire, 'evidence'>('evidence', 9), wraps: true },
];
/** In a pipe, a line has its remedy, too. */
const WITH_REMEDY: readonly Column<DiagnosisWire>[] = [...CHECKS, field('remedy', 9)];

const OPTIONS = {
  offline: flag('--offline', 'examine the files beside a stopped daemon'),
  egress: flag('--egress', 'also show what users and agents can reach'),
  full: flag('--full', 'search a large database for damage, and look at every stored file, however long it takes'),
};

/** Adds the command. */
export function addDoctor(program: Command, io: Io): void {
  perform(program.command('doctor').description(ABOUT), io, OPTIONS, examine)
    .summary('find what is wrong, and what mends it')
    .addHelpText('after', EXAMPLES);
}

const ABOUT =
  'Examine the whole installation: configuration, permissions, disk, clock, database, stored files, sandbox, models, public ' +
  'address, certificate, webhooks, runs, backups and unit. Each check shows what was seen, and the command that mends it. Exits with 8 if ' +
  'a check fails; warnings do not count.';

const EXAMPLES = `
Examples:
  errand doctor
  errand doctor --offline --full
  errand doctor -o json | jq '.checks[] | select(.state != "ok")'`;

async function examine(context: Context, { offline, egress, full }: Given<typeof OPTIONS>): Promise<void> {
  const request = { egress: egress === true, full: full === true };
  const found = await (offline ? examineFiles(context, request, { state: 'stopped' }) : askDaemon(context, request));
  show(context, found);
  if (found.ok) return;
  const failed = found.checks.filter((check) => check.state === 'failed').map(({ id }) => id);
  throw new CommandError('checkFailed', `Not as it should be: ${failed.join(', ')}.`);
}

/** `node`: who has examined, where there are several. */
type Examined = ExaminationWire & { readonly node?: NodeOfOutput };

/** Where none answers, its files are examined. */
async function askDaemon(context: Context, request: Required<ExaminationRequestWire>): Promise<Examined> {
  const client = context.client();
  let node: NodeOfOutput | null;
  try {
    // An examination takes its time; that a daemon hangs should be known before.
    node = nodeIn(await client.status({ timeoutMs: ANSWER_MS }));
  } catch (error) {
    const isHung = isClientFailure(error, 'timeout');
    if (context.locations.url !== null || !(isHung || isClientFailure(error, 'unreachable'))) throw error;
    return examineFiles(context, request, { state: 'silent', why: messageOf(error), isHung });
  }
  return { ...(await withUnit(context, await client.examine(request))), ...(node !== null && { node }) };
}

/** The daemon can't ask systemd about its own unit. */
async function withUnit({ locations }: Context, found: ExaminationWire): Promise<ExaminationWire> {
  if (!locations.isService || found.checks.find(({ id }) => id === 'unit')?.state !== 'skipped') return found;
  const { examineUnit } = await import('../../../doctor/checks/service.ts');
  const unit = examination.render([await examineUnit()]).checks[0]!;
  const checks = found.checks.map((check) => (check.id === 'unit' ? { ...unit, number: check.number } : check));
  return { ok: checks.every((check) => check.state !== 'failed'), checks };
}

const ANSWER_MS = 10_000;

type Silence = Exclude<DaemonState, { readonly state: 'running' }>;

async function examineFiles(
  context: Context,
  request: Required<ExaminationRequestWire>,
  daemon: Silence,
): Promise<ExaminationWire> {
  // Loaded here because the daemon usually examines itself.
  const { examineOffline } = await import('../../../doctor/offline.ts');
  const { locations, flags, io, signal } = context;
  const wanted = { egress: request.egress === true, full: request.full === true };
  return examination.render(
    await examineOffline({ locations, flags, environment: io.environment, daemon }, wanted, signal),
  );
}

function show({ out, call, io }: Context, { ok, checks, node }: Examined): void {
  const called = checks.map((check) => ({ ...check, remedy: check.remedy && calledAs(check.remedy, call) }));
  if (node !== undefined && out.format !== 'json') out.hint(`Examined by ${wordsOfNode(node)}.`);
  out.list(called, io.terminal.stdout ? CHECKS : WITH_REMEDY, { ok, ...(node && { node }), checks: called });
  if (out.format === 'json' || !io.terminal.stdout) return;
  const mends = called.filter(({ remedy }) => remedy !== null);
  if (mends.length === 0) return;
  const lines = inOrder(mends).map(
    ({ number, remedy }) => `${String(number).padStart(4)}  ${remedy!.split('\n').join('\n      ')}\n`,
  );
  out.text(`\nWhat mends it:\n${lines.join('')}`);
}

/** For the same daemon, by the flags of this call. */
const calledAs = (remedy: string, call: string) => remedy.replaceAll(/\berrand (?=[a-z])/g, () => `${call} `);

/** What starts the daemon comes last: before, it starts only to fail again. */
function inOrder<T extends Pick<DiagnosisWire, 'id'>>(checks: readonly T[]): readonly T[] {
  return [...checks.filter(({ id }) => id !== 'daemon'), ...checks.filter(({ id }) => id === 'daemon')];
}
