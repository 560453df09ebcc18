// The session's rounds, newest first: what was asked, which tools were used, what came of it, and its cost.
import { compact, spokenMs } from '../../domain/figures.ts';
import { momentOf } from '../../terminal/moments.ts';
import { money } from '../../terminal/money.ts';
import { type Rounds, roundSource } from '../../tui/feed/sources.ts';
import { styleOfStatus } from '../../tui/state/run-style.ts';
import { h } from '../page/element.ts';
import { glyphView } from '../page/glyph.ts';
import { keyedList } from '../page/keyed.ts';
import { markdownView } from '../page/markdown-view.ts';
import { safeLine } from '../page/safe-text.ts';
import type { Tab, TabView } from './tab-view.ts';

type Round = Rounds['items'][number];

function roundsTab(): TabView {
  const element = h('div', { class: 'rounds' });
  let zone = 'UTC';
  const list = keyedList<Round>(
    element,
    ({ round_no: number }) => String(number),
    () => {
      const article = h('article', { class: 'round' });
      let drawn: Round | null = null;
      return {
        element: article,
        draw(round) {
          if (drawn !== null && JSON.stringify(drawn) === JSON.stringify(round)) return;
          drawn = round;
          article.replaceChildren(...contentsOf(round, zone));
        },
      };
    },
  );
  return {
    element,
    draw({ data, tz }) {
      zone = tz;
      list.draw(((data as Rounds | undefined)?.items ?? []).toReversed());
    },
  };
}

function contentsOf(round: Round, tz: string): readonly Node[] {
  const { status, started_at: startedAt, finished_at: finishedAt } = round;
  const { glyph, word, role } = styleOfStatus(status);
  const ms = startedAt === null || finishedAt === null ? null : Date.parse(finishedAt) - Date.parse(startedAt);
  const facts = [
    startedAt === null ? '' : momentOf(Date.parse(startedAt), tz),
    ms === null ? '' : spokenMs(ms),
    `${compact(round.input_tokens)} in · ${compact(round.output_tokens)} out`,
    money(round.cost_usd),
  ].filter((fact) => fact !== '');
  return [
    h('h2', {}, glyphView(glyph, role), ` Round ${round.round_no} `, h('span', { class: `is-${role}` }, word)),
    h('p', { class: 'dim' }, facts.join(' · ')),
    ...part('asked', round.user_message),
    ...(round.tools.length === 0 ? [] : [h('h3', {}, 'used'), h('p', {}, h('bdi', {}, toolsText(round.tools)))]),
    ...part('answered', round.assistant_message),
  ];
}

function part(label: string, text: string | null): readonly Node[] {
  if (text === null || text.trim() === '') return [];
  return [h('h3', {}, label), h('div', { class: 'said' }, ...markdownView(text.trim()))];
}

function toolsText(tools: Round['tools']): string {
  const counts = new Map<string, number>();
  for (const { name } of tools) counts.set(name, (counts.get(name) ?? 0) + 1);
  const names = [...counts].map(([name, count]) => (count === 1 ? name : `${name} ×${count}`)).join(', ');
  const failed = tools.filter(({ status }) => status === 'failed').length;
  return safeLine(`${names}${failed === 0 ? '' : ` (${failed} failed)`}`);
}

export const rounds: Tab = {
  name: 'rounds',
  startsAtEnd: false,
  source: roundSource,
  next: ({ data }, { isAtEnd }) => (isAtEnd && (data as Rounds | undefined)?.hasOlder === true ? 'older' : undefined),
  make: roundsTab,
};
