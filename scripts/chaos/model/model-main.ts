// The scripted model server of the storm, in its own process: it replies as each turn's plan says, and records what it was
// shown. `node model-main.ts --rules FILE --audit FILE` prints one JSON line {"url"}; it ends with its standard input.
import { createWriteStream, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ModelQuestion, Reply } from '../../../test/support/model/model-reply.ts';
import { startModelServer } from '../../../test/support/model/model-server.ts';
import { shownIn } from './audit.ts';
import { numberIn, planOf, type PlannedFault, type PlanRules, usageOf } from './plan.ts';

const { values } = parseArgs({ options: { rules: { type: 'string' }, audit: { type: 'string' } } });
const rules = JSON.parse(readFileSync(values.rules ?? '', 'utf8')) as PlanRules;
const audit = createWriteStream(values.audit ?? '', { flags: 'a' });
const faultsPlayed = new Map<number, number>();

function replyTo(question: ModelQuestion): Reply {
  const number = numberIn(question.userText);
  if (number === undefined) return { status: 400, body: { error: { message: 'No piece of work is named.' } } };
  const { step } = question;
  audit.write(`${JSON.stringify({ number, step, ...shownIn(question) })}\n`);
  const plan = planOf(rules, number);
  const { input, output } = usageOf(number, step);
  const calls = plan.steps[step];
  const reply: Reply = {
    usage: { input, output },
    ...(calls === undefined
      ? { text: plan.answer.deltas, deltaMs: plan.answer.everyMs, firstMs: plan.answer.firstMs }
      : { text: `Step ${step} of ${number}. `, tools: calls.map(({ name, input }) => ({ name, input })) }),
  };
  const fault = plan.fault;
  return fault === null || fault.step !== step || isOver(number, fault) ? reply : { ...reply, ...faultReply(fault) };
}

function isOver(number: number, { times }: PlannedFault): boolean {
  if (times === null) return false;
  const played = faultsPlayed.get(number) ?? 0;
  faultsPlayed.set(number, played + 1);
  return played >= times;
}

function faultReply({ kind, status }: PlannedFault): Partial<Reply> {
  if (kind === 'refuse') return { refuse: true };
  return kind === 'cut' ? { cut: 1 } : { status };
}

const server = await startModelServer({ record: false });
server.script(replyTo);
process.stdin.on('end', () => void server.close().then(() => audit.end(() => process.exit(0)))).resume();
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
