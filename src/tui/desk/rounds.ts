// The session's rounds, newest first: what was asked, which tools were used, what came of it, and its cost.
import type { RunStatus } from '../../domain/sessions/run.ts';
import type { RunRoundsWire } from '../../wire/office/session.ts';
import { lookOf as lookOfWord } from '../../terminal/states.ts';
import { clockOf } from '../frame/header.ts';
import { money, short } from '../text/figures.ts';
import { cell, EMPTY, type Line, lineOf, type Role, span } from '../text/line.ts';
import { elapsed } from './durations.ts';
import { folded, rememberLines, type Tab, textLines } from './tab.ts';

type Round = RunRoundsWire['items'][number];

const ROLES: Readonly<Record<RunStatus, Role>> = {
  queued: 'pending',
  running: 'running',
  finalizing: 'running',
  completed: 'completed',
  failed: 'failed',
  canceled: 'idle',
  incomplete: 'failed',
};
const TOOL_ROLES = { waiting: 'waiting', running: 'running', completed: 'dim', failed: 'failed' } as const;
/** Lines of a text while it is folded. */
const FOLDED = 3;

const linesOf = rememberLines<Round>((round, width, isUnfolded) => [
  head(round, width),
  ...told('asked', round.user_message, width, isUnfolded),
  ...toolLines(round.tools, width, isUnfolded),
  ...told('answered', round.assistant_message, width, isUnfolded),
  EMPTY,
]);

function head(round: Round, width: number): Line {
  const { status, started_at: startedAt, finished_at: finishedAt } = round;
  const role = ROLES[status];
  const ms = startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
  const right = [
    span(ms === null ? '' : `${elapsed(ms)}  `, 'dim'),
    span(`${short(round.input_tokens)} in · ${short(round.output_tokens)} out  `, 'dim'),
    span(money(round.cost_usd), 'money'),
  ];
  const began = startedAt === null ? '' : `  ${clockOf(Date.parse(startedAt), 'UTC', false)} UTC`;
  const left = [
    span(`${lookOfWord(status).glyph} `, role),
    span(`Round ${round.round_no}`, 'strong'),
    span(`  ${status}`, role),
  ];
  return lineOf([...left, span(began, 'dim')], right, width);
}

function told(label: string, text: string | null, width: number, isUnfolded: boolean): readonly Line[] {
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
        [span(ms === null ? status : elapsed(ms), TOOL_ROLES[status])],
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

/** As many as the daemon gives at once, the newest ones. */
async function readRounds(
  client: Parameters<NonNullable<Tab['read']>>[0],
  sessionId: string,
): Promise<readonly Round[]> {
  const first = await client.office.rounds(sessionId, { limit: LIMIT });
  if (first.total <= first.items.length) return first.items.toReversed();
  const last = await client.office.rounds(sessionId, { limit: LIMIT, offset: first.total - LIMIT });
  return last.items.toReversed();
}

const LIMIT = 100;

export const rounds: Tab = {
  name: 'rounds',
  title: 'Rounds',
  shortTitle: 'Rounds',
  read: readRounds,
  items: ({ isUnfolded }, data, width) => {
    const list = (data ?? []) as readonly Round[];
    return {
      count: list.length,
      keyAt: (at) => at,
      linesAt: (at) => {
        const round = list[at];
        return round === undefined ? [] : linesOf(round, width, isUnfolded);
      },
      startsAtEnd: false,
    };
  },
};
