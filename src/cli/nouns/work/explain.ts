// `errand runs explain`: where the time of a run went, what it cost, and what was slow.
import { spokenMs } from '../../../domain/figures.ts';
import { type Column, column, field } from '../../../terminal/columns.ts';
import { callCost } from '../../../terminal/money.ts';
import { safeLine } from '../../../terminal/text.ts';
import type { SpanWire, TimelineWire } from '../../../wire/sessions/timeline.ts';
import type { Context } from '../../frame/context.ts';
import { runWordOf } from '../../terminal/run-status.ts';
import { timelineLines, wordsOf } from '../../terminal/timeline.ts';

export const EXPLAIN_HELP = `
In a pipe there is a line for each span: kind, start, milliseconds, whether it is a part, model, tokens in and out, cost and
words. "-o json" has all of it.`;

type StepWire = TimelineWire['steps'][number];

const IN_A_PIPE: readonly Column<SpanWire>[] = [
  field('kind'),
  field('started_at'),
  field('duration_ms'),
  field('parent'),
  field('model'),
  field('input_tokens'),
  field('output_tokens'),
  field('cost_usd'),
  column('words', wordsOf),
];

const STEPS: readonly Column<StepWire>[] = [
  field('step', 9),
  field('model', 4),
  column('model_time', ({ model_ms: ms }) => spokenMs(ms), 7),
  column('first_token', ({ first_token_ms: ms }) => (ms === null ? null : spokenMs(ms)), 6),
  column('tool_time', ({ tools, tool_ms: ms }) => (tools === 0 ? null : spokenMs(ms)), 6),
  field('tools', 3),
  field('calls', 2),
  field('input_tokens', 5),
  field('output_tokens', 5),
  column('cost', ({ cost_usd: cost }) => callCost(cost), 8),
];

/** What is not known of a run, and why. */
const GAPS: Readonly<Record<TimelineWire['detail'], string | null>> = {
  complete: null,
  coarse: 'An earlier version recorded some of it: those calls have no time to their first token, and no waits.',
  removed: 'The details of this run were removed: only its times and its model calls are left.',
};

/** Shows the explanation of a run. */
export async function explain({ client, out, io }: Context, id: string): Promise<void> {
  const timeline = await client().runs.timeline(id);
  if (out.format === 'json' || !io.terminal.stdout) {
    out.list(timeline.spans, IN_A_PIPE, timeline);
    return;
  }
  const width = io.columns;
  const gap = GAPS[timeline.detail];
  const notes = [
    ...(gap === null ? [] : [gap]),
    ...(timeline.truncated ? ['Only its first 5000 spans are shown.'] : []),
  ];
  out.text(`${[headlineOf(timeline), ...notes].join('\n')}\n\n`);
  out.text(`${timelineLines(timeline, width).join('\n')}\n`);
  if (timeline.steps.length > 0) {
    out.text('\nSteps\n');
    out.list(timeline.steps, STEPS, timeline);
  }
  out.text(`\n${slowTextOf(timeline)}`);
}

function headlineOf({ run, total_ms: ms, steps }: TimelineWire): string {
  const status = run.waiting_for_user ? 'waiting for its user' : runWordOf(run);
  const time = run.finished_at === null ? `for ${spokenMs(ms)} so far` : `after ${spokenMs(ms)}`;
  const count = `${steps.length} ${steps.length === 1 ? 'step' : 'steps'}`;
  const tokens = `${run.input_tokens} → ${run.output_tokens} tokens`;
  const head = `Run ${run.run_id}: ${status} ${time}, ${count}, ${tokens}, ${callCost(run.cost_usd)}`;
  return run.error === null ? head : `${head}\n${run.error.type}: ${safeLine(run.error.message)}`;
}

function slowTextOf({ slow }: TimelineWire): string {
  if (slow.length === 0) return 'Nothing was slow.\n';
  return `Slow\n${slow.map(({ words }) => `  ${safeLine(words)}\n`).join('')}`;
}
