// The time line of a run on a terminal: a line for each span, with its place in the run as a bar.
import { spokenMs } from '../../domain/figures.ts';
import { queueWords, callerOf } from '../../domain/sessions/timeline/slow-spans.ts';
import { callCost } from '../../terminal/money.ts';
import { cutTo, padStartTo, padTo, safeLine } from '../../terminal/text.ts';
import type { SpanWire, TimelineWire } from '../../wire/sessions/timeline.ts';

const BAR = 24;
const CELLS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'] as const;

/** What is shown of a span in words. */
export function wordsOf(span: SpanWire): string {
  return WORDS[span.kind](span);
}

const WORDS: Readonly<Record<SpanWire['kind'], (span: SpanWire) => string>> = {
  queue: ({ ended_at: end, waited_for: waitedFor = 'worker', slots = null }) =>
    `${end === null ? 'waits' : 'waited'} ${queueWords({ waitedFor, slots })}`,
  prepare: ({ attempt = 1, ended_at: end }) => {
    // Before the first text it can't be seen whether the model has been asked.
    const what = end === null ? 'prepares, or waits for a first token' : 'prepared';
    return attempt > 1 ? `attempt ${attempt}: ${what}` : what;
  },
  model: modelWords,
  tool: ({ step, name = '', agent, ok, ended_at: end }) => {
    const who = agent == null ? name : `${name} to ${agent}`;
    const outcome = end === null ? ', under way' : ok === false ? ', failed' : '';
    return `step ${step}: ${who}${outcome}`;
  },
  question: ({ outcome }) => `asked its user${outcome == null ? '' : `: ${outcome}`}`,
  compaction: ({ characters }) => `summarised ${characters} characters of the conversation`,
  interruption: ({ resumes }) => `interrupted; resumes so far: ${resumes}`,
  finish: () => 'recorded its end',
  collection: ({ ok }) => (ok === true ? 'stored its files' : 'its files were not stored'),
  export: ({ ok }) => (ok === true ? 'packed the workspace' : 'the workspace was not packed'),
};

function modelWords(span: SpanWire): string {
  const { purpose = null, step = null, agent = null, model, ok, timing } = span;
  const first = timing?.first_token_ms ?? null;
  const parts = [
    model,
    ok === false ? 'failed' : null,
    span.ended_at === null ? 'under way' : null,
    first === null ? null : `first token ${spokenMs(first)}`,
    timing == null || timing.tries < 2 ? null : `${timing.tries} tries`,
    span.input_tokens == null ? null : tokensOf(span),
    span.cost_usd ? callCost(span.cost_usd) : null,
  ];
  return `${callerOf({ purpose, step, agent })}: ${parts.filter((part) => part !== null).join(', ')}`;
}

const tokensOf = ({ input_tokens: input, output_tokens: output, estimated }: SpanWire) =>
  `${estimated === true ? 'about ' : ''}${input} → ${output} tokens`;

/** The lines of the spans, at most so many columns wide; null for as many as they need. */
export function timelineLines(timeline: TimelineWire, width: number | null): string[] {
  const { spans } = timeline;
  const from = Date.parse(timeline.run.created_at);
  const ends = spans.map((span) => Date.parse(span.started_at) + span.duration_ms);
  const totalMs = Math.max(1, timeline.total_ms, ...ends.map((end) => end - from));
  return spans.map((span) => {
    const startMs = Math.max(0, Date.parse(span.started_at) - from);
    // What comes after the run is no share of it.
    const hasShare = span.parent === null && timeline.total_ms > 0 && startMs + span.duration_ms <= timeline.total_ms;
    const share = hasShare ? `${Math.round((100 * span.duration_ms) / timeline.total_ms)} %` : '';
    const line = [
      padStartTo(`+${spokenMs(startMs)}`, 12),
      padStartTo(spokenMs(span.duration_ms), 12),
      padStartTo(share, 5),
      padTo(bar(startMs / totalMs, span.duration_ms / totalMs), BAR),
      `${span.parent === null ? '' : '  '}${safeLine(wordsOf(span))}`,
    ].join(' ');
    return width === null ? line : cutTo(line, width);
  });
}

/** A bar in a line of `BAR` cells. What is shorter than a cell has a thin mark. */
function bar(start: number, length: number): string {
  const from = Math.min(BAR - 1, Math.floor(start * BAR));
  const eighths = Math.max(1, Math.round(Math.min(BAR - from, length * BAR) * 8));
  return ' '.repeat(from) + '█'.repeat(Math.floor(eighths / 8)) + CELLS[eighths % 8]!;
}
