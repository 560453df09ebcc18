// The floor of Office Mode as a plain table, for browsers without JavaScript (0054).
import { createHash } from 'node:crypto';
import { isoTime } from '../../../domain/clock.ts';
import { compact } from '../../../domain/figures.ts';
import type { Administrator } from '../../../domain/people/user.ts';
import { detailOf } from '../../../domain/sessions/office-run.ts';
import { elapsedSeconds, OFFICE_STATUS } from '../../../domain/sessions/office.ts';
import type { FloorSnapshot } from '../../../operations/office/floor.ts';
import type { Operations } from '../../../operations/operations.ts';
import { stopwatch } from '../../../terminal/durations.ts';
import { money } from '../../../terminal/money.ts';
import type { Exchange } from '../../frame/exchange.ts';
import { html, Html } from '../../replies/html.ts';
import { ICON } from '../../replies/icon.ts';
import { errorReply } from '../../replies/render-error.ts';
import type { Reply } from '../../replies/reply.ts';
import { rootOf } from './headers.ts';

const STYLE =
  ':root{color-scheme:light dark;background:Canvas;color:CanvasText}body{font:1rem/1.5 system-ui,sans-serif;margin:1rem}table{border-collapse:collapse;margin-top:1.5rem}' +
  'caption{text-align:start;font-weight:bold}th,td{text-align:start;vertical-align:top;padding:.2rem 1rem .2rem 0;border-bottom:1px solid}' +
  '.t{min-width:12rem;overflow-wrap:anywhere}.n{text-align:end;white-space:nowrap}';

/** Nothing but its own style and icon. */
const HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

const ROWS = 96;
const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

export const isPlainPath = (path: string): boolean => path === '/office/plain';

/** "Today" is a day of the daemon's zone: without a script, nobody says what the reader's is. */
export function makePlainFloor({ getOfficeSnapshot }: Pick<Operations, 'getOfficeSnapshot'>) {
  return async ({ bases }: Pick<Exchange, 'bases'>, caller: Administrator): Promise<Reply<Html>> => {
    const timeZone = ownZone();
    const floor = await getOfficeSnapshot(caller, { limit: ROWS, timeZone });
    return { status: 200, headers: HEADERS, body: page(render(floor, rootOf(bases.own), timeZone)) };
  };
}

/** Anything thrown as a page: how to get in, or what is wrong. */
export function plainErrorReply(thrown: unknown): Reply<Html> {
  const { status, headers, body } = errorReply(thrown, 'envelope');
  const { message } = body as { readonly message: string };
  const words =
    status === 401
      ? html`<p>You are not logged in. Open a link of <code>errand office --web</code> once in a browser with JavaScript: it needs that to log in. Or watch on a terminal, with <code>errand office</code>.</p>`
      : html`<p>${message}</p>`;
  return { status, headers: { ...HEADERS, ...headers }, body: page(words) };
}

function page(body: Html): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Office Mode</title>
<link rel="icon" href="${ICON}">
<style>${Html.safe(STYLE)}</style>
</head>
<body>
<main>
<h1>Office Mode</h1>
${body}
</main>
</body>
</html>
`;
}

function render({ at, overview, teams, runs }: FloorSnapshot, root: string, timeZone: string): Html {
  const { running, pending, completed, failed, idle, costUsd, tokens } = overview;
  return html`<p>${running} running, ${pending} pending, ${completed} completed, ${failed} failed, ${idle} stopped; today ${money(costUsd)} and ${compact(tokens)} tokens. As of <time datetime="${isoTime(at)}">${isoTime(at).slice(0, 'YYYY-MM-DD HH:mm:ss'.length).replace('T', ' ')} UTC</time>; today is a day of ${timeZone}. <a href="${root}/plain">Show it as it is now</a>, or, with JavaScript, <a href="${root}">live</a>.</p>
<table>
<caption>Teams today</caption>
<thead><tr><th scope="col">Team</th><th scope="col" class="n">Cost</th><th scope="col" class="n">Budget</th><th scope="col" class="n">Tokens</th></tr></thead>
<tbody>${teams.map(
    ({ name, costUsd: cost, budgetUsd, tokens: used }) =>
      html`<tr><td dir="auto">${name}</td><td class="n">${money(cost)}</td><td class="n">${budgetUsd !== null && money(budgetUsd)}</td><td class="n">${compact(used)}</td></tr>\n`,
  )}</tbody>
</table>
<table>
<caption>Runs, at most ${ROWS}</caption>
<thead><tr><th scope="col">Status</th><th scope="col">Title</th><th scope="col">Who</th><th scope="col">Now</th><th scope="col" class="n">Time</th><th scope="col" class="n">Tokens</th><th scope="col" class="n">Cost</th></tr></thead>
<tbody>${runs.map(row)}</tbody>
</table>`;
}

function row(run: FloorSnapshot['runs'][number]): Html {
  const { status, title, username, fullName, startedAt, finishedAt, at, totalTokens, costUsd, error } = run;
  const shown = OFFICE_STATUS[status] === 'idle' ? 'stopped' : OFFICE_STATUS[status];
  return html`<tr><td>${shown}</td><td class="t" dir="auto">${title}</td><td dir="auto">${fullName === '' ? username : fullName}</td><td class="t" dir="auto">${error?.message ?? detailOf(run)}</td><td class="n">${stopwatch(elapsedSeconds(startedAt, finishedAt ?? at) * 1_000)}</td><td class="n">${compact(totalTokens)}</td><td class="n">${money(costUsd)}</td></tr>
`;
}
