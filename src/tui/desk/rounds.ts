// The session's rounds, newest first: what was asked, which tools were used, what came of it, and its cost.
import { compact, spokenMs } from '../../domain/figures.ts';
import { momentOf } from '../../terminal/moments.ts';
import { money } from '../../terminal/money.ts';
import type { RunRoundsWire } from '../../wire/office/session.ts';
import { cell, EMPTY, type Line, lineByWorth, lineOf, span } from '../text/line.ts';
import { type Rounds, roundSource } from '../feed/sources.ts';
import { styleOfStatus } from '../state/run-style.ts';
import { folded, rememberLines, textLines } from '../transcript/blocks.ts';
import { readNextOf, type Tab } from './tab.ts';

type Round = RunRoundsWire['items'][number];

const TOOL_ROLES = { waiting: 'waiting', running: 'running', completed: 'dim', failed: 'failed' } as const;
/** Lines of a text while it is folded. */
const FOLDED = 3;

const linesOf = rememberLines((round: Round, { width, tz }, isUnfolded: boolean) => [
  head(round, width, tz),
  ...messageLines('asked', round.user_message, width, isUnfolded),
  ...toolLines(round.tools, width, isUnfolded),
  ...messageLines('answered', round.assistant_message, width, isUnfolded),
  EMPTY,
]);

function head(round: Round, width: number, tz: string): Line {
  const { status, started_at: startedAt, finished_at: finishedAt } = round;
  const { glyph, word, role } = styleOfStatus(status);
  const ms = startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
  const left = [span(`${glyph} `, role), span(`Round ${round.round_no}`, 'strong'), span(`  ${word}`, role)];
  return lineByWorth(left, width, [
    { worth: 30, span: span(startedAt === null ? '' : `  ${momentOf(Date.parse(startedAt), tz)}`, 'dim') },
    { worth: 20, span: span(ms === null ? '' : `  ${spokenMs(ms)}`, 'dim') },
    { worth: 10, span: span(`  ${compact(round.input_tokens)} in · ${compact(round.output_tokens)} out`, 'dim') },
    { worth: 40, span: span(`  ${money(round.cost_usd)}`, 'money') },
  ]);
}

function messageLines(label: string, text: string | null, width: number, isUnfolded: boolean): readonly Line[] {
  if (text === null || text.trim() === '') return [];
  const lines = textLines(text.trim(), width, 'plain', 12);
  const shown = isUnfolded ? lines : folded(lines, FOLDED, width, 12);
  return shown.map((line, at) => (at === 0 ? labelled(label, line) : line));
}

/** The label stands in the margin. */
const labelled = (label: string, { spans }: Line): Line => ({
  spans: [span(`  ${label.padEnd(10)}`, 'dim'), ...spans.slice(1)],
});

/** Folded: one line of names with their numbers; unfolded: a line for each call. */
function toolLines(tools: Round['tools'], width: number, isUnfolded: boolean): readonly Line[] {
  if (tools.length === 0) return [];
  if (isUnfolded) {
    return tools.map(({ name, status, duration_ms: ms }) =>
      lineOf(
        [span(' '.repeat(12)), cell(name, Math.max(1, width - 26), TOOL_ROLES[status])],
        [span(ms === null ? status : spokenMs(ms), TOOL_ROLES[status])],
        width,
      ),
    );
  }
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(', ');
  const failed = tools.filter(({ status }) => status === 'failed').length;
  const lines = textLines(`${names}${failed === 0 ? '' : ` (${failed} failed)`}`, width, 'accent', 12);
  return lines.map((line, at) => (at === 0 ? labelled('used', line) : line));
}

export const rounds: Tab = {
  name: 'rounds',
  title: 'Rounds',
  shortTitle: 'Rounds',
  source: roundSource,
  readNext: ({ positions }, data, view) =>
    readNextOf(data as Rounds | undefined, positions.rounds !== undefined, view.isAtEnd),
  items: ({ isUnfolded }, data, room) => {
    const list = (data as Rounds | undefined)?.items ?? [];
    const roundAt = (at: number) => list[list.length - 1 - at];
    return {
      count: list.length,
      keyAt: (at) => -(roundAt(at)?.round_no ?? 0),
      linesAt: (at) => {
        const round = roundAt(at);
        return round === undefined ? [] : linesOf(round, room, isUnfolded);
      },
      startsAtEnd: false,
    };
  },
};
